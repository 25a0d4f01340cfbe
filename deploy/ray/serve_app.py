"""The service as an application of Ray Serve, for clusters where the trainers already run on Ray.

    pip install 'rubricate[ray]'
    cd deploy/ray
    serve run serve_app:build judge=http://JUDGE:8000 cache=redis://REDIS:6379/0

The arguments are the service's settings; `serve.yaml` says the same as a config file, with replicas, which
share what they must through the Redis.
"""

# Ray takes the builder's annotation for a class, so annotations stay what they are in this file.

from fastapi import FastAPI
from ray import serve
from ray.serve import Application

from rubricate_service.app import create_app
from rubricate_service.settings import Settings

_CHECK_WORKERS = 2
_MOST_ONGOING = 4096
"""Requests of a replica: those that wait for their group are among them, and cost it nothing."""


def build(settings: Settings) -> Application:
    """The application, with one replica unless Serve's config says otherwise.

    Args:
        settings: As the service's own, from the arguments and from the `RUBRICATE_…` variables of whoever
            deploys. Each of the `check_workers` (2) is a CPU that Ray reserves for a replica. `host`, `port`
            and `workers` are Serve's business.
    """
    workers = settings.check_workers or _CHECK_WORKERS
    settings = settings.model_copy(update={"check_workers": workers})

    def app() -> FastAPI:  # in the replica, as an app cannot be sent
        return create_app(settings)

    replica = serve.deployment(
        serve.ingress(app)(),
        name="rubricate",
        ray_actor_options={"num_cpus": workers},
        max_ongoing_requests=_MOST_ONGOING,
        # one that goes answers what it has
        graceful_shutdown_timeout_s=settings.drain_time_s,
    )
    deployed: Application = replica.bind()
    return deployed
