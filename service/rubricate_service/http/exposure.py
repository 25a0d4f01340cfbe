"""Before the service listens: whether it may serve other machines, and how many connections fit."""

from __future__ import annotations

import ipaddress
import sys

from rubricate_service.settings import Settings


def refusal_to_serve(settings: Settings) -> str | None:
    """Why a service with these settings must not start, or None when it may.

    Without tokens everybody who reaches the port may spend the judge's time, so only this machine may.
    """
    if settings.tokens and settings.no_auth:
        return "`tokens` says who may ask, --no-auth (RUBRICATE_NO_AUTH) that all may: leave one of them out"
    if settings.tokens or settings.no_auth or is_loopback(settings.host):
        return None
    return (
        f"{settings.host} can be reached from other machines, and there are no tokens. Make one with "
        "`rubricate token new NAME` and put its table into the settings file, or say --no-auth "
        "(RUBRICATE_NO_AUTH=true) where something in front of the service asks who they are"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a service that listens on this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # another name: where it leads may change
        return False


def allow_many_connections() -> None:
    """Take as many open files as the system allows: at a thousand connections the default ends."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
