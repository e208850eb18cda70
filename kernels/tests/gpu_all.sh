#!/bin/sh
# Everything that needs a GPU, on an installed fused_o_proj: tests, memory checker, a table of timings.
# Usage: kernels/tests/gpu_all.sh   (PYTHON=python3 and PYTHONPATH are respected)
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
failed=0
"$python" -m pytest -q -m "not wheel" "$here" || failed=1
if command -v compute-sanitizer >/dev/null; then
  compute-sanitizer --tool memcheck --error-exitcode 1 "$python" "$here/memcheck_shapes.py" || failed=1
else
  echo "compute-sanitizer is not on PATH: memcheck was not run" >&2
fi
"$python" "$here/gpu_timings.py" || failed=1
exit $failed
