"""Suites of checks; importing one registers its ids."""

from . import ifeval as ifeval
