#!/usr/bin/env bash
# Everything that needs a GPU, in one go, on the packages installed in PYTHON's environment: tests, memory checker,
# every cell, a gate of HEAD against itself, the sampler beside NVBench. Logs and a summary go to OUTPUT.
# Usage: .ci/gpu.sh [OUTPUT [STEP...]]   (default build/gpu and every step; PYTHON=python3 is respected).
# Exits 1 if any step failed.
set -uo pipefail

cd "$(dirname "$0")/.." || exit
output=${1:-build/gpu}
python=${PYTHON:-python3}
wanted=" ${*:2} "
mkdir -p "$output"
failed=()

# step NAME SECONDS COMMAND...: runs a step under a time limit, its output in a log of its own
step() {
  local name=$1 limit=$2 started=$SECONDS
  shift 2
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  if timeout --kill-after=10 "$limit" "$@" >"$output/$name.log" 2>&1; then
    echo "$name: passed in $((SECONDS - started)) s"
  else
    local code=$?
    echo "$name: failed with exit code $code after $((SECONDS - started)) s; the end of $output/$name.log:"
    tail -n 25 "$output/$name.log"
    failed+=("$name")
  fi
}

# keep NAME: the report that the last step wrote, before the next one writes over it
keep() {
  [ -f build/report/report.json ] && mv build/report/report.json "$output/$1.json" && mv build/report/index.html "$output/$1.html"
}

wheel=$("$python" - <<'END'
from pathlib import Path

from solwatch.app.builds import builder_for
from solwatch.workspace.git import Repository
from solwatch.workspace.settings import load_config
import os

repository = Repository.open(Path.cwd())
builder = builder_for(repository, load_config(repository.root, {}), "cuda", os.environ)
print(builder.provide(repository.working_tree()).path)
END
) || exit 1
export PYTHONPATH="$wheel${PYTHONPATH:+:$PYTHONPATH}"

nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.max.sm --format=csv,noheader
step doctor 120 "$python" -m solwatch.cli.main doctor --device cuda
step op-tests 400 "$python" -m pytest -q -m "gpu and not wheel" kernels/tests
step harness-tests 400 "$python" -m pytest -q -m gpu reports/tests
if command -v compute-sanitizer >/dev/null; then
  shapes=("$python" kernels/tests/memcheck_shapes.py)
  step memcheck 300 compute-sanitizer --tool memcheck --error-exitcode 1 "${shapes[@]}"
  # Races and barriers of our own kernels only: the reference's would take most of the time.
  step racecheck 300 compute-sanitizer --tool racecheck --kernel-name kns=fused_o_proj --error-exitcode 1 "${shapes[@]}" 30
  step synccheck 300 compute-sanitizer --tool synccheck --kernel-name kns=fused_o_proj --error-exitcode 1 "${shapes[@]}" 30
  step initcheck 300 compute-sanitizer --tool initcheck --error-exitcode 1 "${shapes[@]}" 30
else
  echo "memcheck, racecheck, synccheck, initcheck: not run, compute-sanitizer is not on PATH"
fi
step run 300 "$python" -m solwatch.cli.main run --working-tree --set all --device cuda
keep run
step gate 300 "$python" -m solwatch.cli.main gate HEAD HEAD --measure-all --device cuda
keep gate
if "$python" -c "import cuda.bench" 2>/dev/null; then
  step nvbench 200 "$python" reports/tests/device/nvbench_compare.py
else
  echo "nvbench: not run, the package cuda-bench is not installed"
fi
tail -n 60 "$output"/{run,gate,nvbench}.log 2>/dev/null
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[*]}"; exit 1; }
