"""The `rubricate` command: there in the base install too, it says what to install for what it lacks."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say which extra brings it."""
    try:
        from rubricate_service.cli import app
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("rubricate"):
            raise
        print(
            f"rubricate: the command line needs the package {error.name!r}, not in the base install.\n"
            "Install the service with:  pip install 'rubricate[service]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    app()


if __name__ == "__main__":
    main()
