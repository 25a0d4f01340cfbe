"""A program for an environment with Ray: deploys the service on Ray Serve, asks it, prints what came back.

Its argument is a job, as JSON: `groups`, `options`, `prefix` (of the route), `port`, `cache`, `token` and its
`hash`. The judge's address is RUBRICATE_URL.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
import ray
from ray import serve

from rubricate_clients import RewardClient

sys.path.insert(0, str(Path(__file__).parents[2] / "deploy" / "ray"))


def deployed(given: dict[str, Any]) -> str:
    """URL of the running application; its arguments go the way of a config file."""
    from ray.serve._private.api import call_user_app_builder_with_args_if_necessary as built
    from serve_app import build  # type: ignore[import-not-found]

    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
    serve.start(http_options={"host": "127.0.0.1", "port": given["port"]})
    arguments = {
        "judge": os.environ["RUBRICATE_URL"],
        "judge_canaries": False,
        "cache": given["cache"],
        "check_workers": 1,
        "tokens": {"trainer": {"hash": given["hash"]}},
    }
    serve.run(built(build, arguments), name="rubricate", route_prefix=given["prefix"])
    return f"http://127.0.0.1:{given['port']}{given['prefix']}"


def main() -> None:
    """Print the answer of `POST /v1/score`, and the status of other routes without a token."""
    given = json.loads(sys.argv[1])
    url = deployed(given)
    with RewardClient(url, given["token"]) as client:
        answer = client.score(given["groups"], given["options"])
    paths = ("/readyz", "/docs", "/openapi.json", "/v1/checks")
    statuses = {path: httpx2.get(url + path, trust_env=False).status_code for path in paths}
    serve.shutdown()
    ray.shutdown()
    print(json.dumps({"answer": answer.model_dump(mode="json"), "statuses": statuses}))


if __name__ == "__main__":
    main()
