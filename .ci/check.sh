#!/usr/bin/env bash
# Everything that is checked without running the project: style, types, layers, tables, scripts, workflows.
# Usage: .ci/check.sh FOLDER-OF-THE-TOOLS. Runs all checks, names those that failed, exits 1 if any did.
set -uo pipefail

cd "$(dirname "$0")/.." || exit
bin=${1:-.venv/bin}
PATH="$(cd "$bin" && pwd):$PATH"
failed=()

check() {
  local name=$1
  shift
  echo "-- $name"
  "$@" || failed+=("$name")
}

# For a tool that also talks when all is well.
quietly() {
  local said
  said=$("$@" 2>&1) || { echo "$said" && return 1; }
}

check "ruff check" ruff check --quiet .
check "ruff format" ruff format --check --quiet .
check "mypy, strict: solwatch, kernels" mypy reports/solwatch kernels/fused_o_proj kernels/native_build
check "mypy, strict: tools" mypy .ci
check "import contracts" lint-imports --no-logo --cache-dir build/importlinter
check "tables of the documentation" python .ci/doc_tables.py --check
check "news fragments" quietly towncrier build --draft --version next
check "shell scripts" shellcheck .ci/run .ci/check.sh .ci/gpu.sh .ci/record_corpus.sh deploy/spot/runner.sh
check "manifests" kubernetes-validate --strict --quiet deploy/arc/manifests/*.yaml deploy/arc/fill-cache.yaml
if [ -d .github/workflows ]; then
  check "workflows: syntax" actionlint
  check "workflows: schema" check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
  check "action: schema" check-jsonschema --builtin-schema vendor.github-actions action.yml
  check "workflows and action: security" zizmor --quiet --offline --persona=auditor .github action.yml
fi

if [ ${#failed[@]} -gt 0 ]; then
  printf 'check: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "check: all passed"
