#!/usr/bin/env bash
# Makes .make/openrlhf: the two modules of OpenRLHF that call a reward server, out of its wheel, for the test of
# the drop-in route on the trainer's own client. Its dependencies (deepspeed, ray, vLLM) are not installed. What
# is made once is kept. Where the wheel is not to be had this says so and ends well, without the file "ready".
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python3}
OPENRLHF=0.11.2
DIR=.make/openrlhf
LOG=$DIR/install.log

mkdir -p "$DIR"
if [ "$(cat "$DIR/ready" 2>/dev/null)" = "$OPENRLHF" ]; then
  exit 0
fi
rm -rf "$DIR/wheel" "$DIR/openrlhf" "$DIR/ready"

echo "fetching OpenRLHF $OPENRLHF (200 kB; $LOG has the details)"
# the modules are plain Python, whatever interpreter and machine the wheel is marked for
if ! "$PYTHON" -m pip --disable-pip-version-check download --no-deps --only-binary=:all: --python-version 3.11 \
  --platform manylinux1_x86_64 --dest "$DIR/wheel" "openrlhf==$OPENRLHF" >"$LOG" 2>&1; then
  grep '^ERROR' "$LOG" >&2 || tail -n 5 "$LOG" >&2
  if grep -q '^ERROR: No matching distribution' "$LOG"; then
    echo "skipped: OpenRLHF is not to be had here (see above)"
    exit 0
  fi
  exit 1
fi
"$PYTHON" - "$DIR" <<'PY'
import sys
from pathlib import Path
from zipfile import ZipFile

folder = Path(sys.argv[1])
(wheel,) = (folder / "wheel").glob("*.whl")
target = folder / "openrlhf" / "utils"
target.mkdir(parents=True)
with ZipFile(wheel) as archive:
    for module in ("agent.py", "logging_utils.py"):
        (name,) = (n for n in archive.namelist() if n.endswith(f"/openrlhf/utils/{module}"))
        (target / module).write_bytes(archive.read(name))
PY
echo "$OPENRLHF" >"$DIR/ready"
