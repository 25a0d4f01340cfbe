"""Rubricate's service: the HTTP app, the scoring pipeline, the judge, the caches and the command line."""

from importlib.metadata import version

__version__ = version("rubricate")
