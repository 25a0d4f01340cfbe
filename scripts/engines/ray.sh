#!/usr/bin/env bash
# Ray Serve and Ray Data with the service, for tests/engines/test_ray.py.
. "$(dirname "$0")/../engine_venv.sh"
RAY=2.60.0

begin ray "$RAY" "Ray $RAY (1 GB, about two minutes)"
install_or_skip Ray "ray==$RAY" --editable '.[ray]'
finish
