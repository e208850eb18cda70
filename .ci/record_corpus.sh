#!/usr/bin/env bash
# Records this repository's noise corpus on the GPU of this machine, from the builds of corpus_builds.py.
# Usage: .ci/record_corpus.sh BUILDS OUTPUT A/A PLANTED NEUTRAL [OCCASION]
# (rounds of each kind; 0 leaves a kind out; OCCASION is today's date if not given)
# Each build becomes an environment beside the packages of PYTHON's own. A file that is there already is continued.
# Exits 1 when a recording failed; the others are made all the same.
set -uo pipefail

cd "$(dirname "$0")/.." || exit
[ $# -eq 5 ] || [ $# -eq 6 ] || { sed -n '2,6p' "$0"; exit 2; }
builds=$(realpath "$1") output=$2 same=$3 planted=$4 neutral=$5 occasion=${6:-$(date -u +%F)}
python=${PYTHON:-python3}
cells="OProj\((1, .(llama-3-8b|jamba-3b|gpt-oss).|16, .(llama-3-8b|llama-3-70b).|64, .(llama-3-8b|deepseek-v3|qwen2.5-7b).|256, .llama-3-8b.|1024, .(gpt-oss|qwen2.5-7b).|4096, .(llama-3-8b|llama-3-70b|deepseek-v3).)\)"
packages=$("$python" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])') || exit
environments=$(mktemp -d)
failed=0
mkdir -p "$output"

for build in "$builds"/*/; do
  name=$(basename "$build")
  "$python" -m venv --without-pip "$environments/$name" || exit
  for site in "$environments/$name"/lib/python*/site-packages; do
    printf '%s\n' "$build" "$packages" >"$site/corpus.pth"
  done
done

# record FILE LABEL BASE HEAD ROUNDS
record() {
  [ "$5" -gt 0 ] || return 0
  "$python" -m solwatch.cli.main record --working-tree --device cuda -b "$cells" --rounds "$5" \
    --base-env "$environments/$3" --head-env "$environments/$4" \
    --label "$2" --occasion "$occasion" --output "$output/$1.jsonl" || failed=1
}

record aa a/a plain plain "$same"
for pair in 5000:0.5 10000:1 20000:2 50000:5; do
  record "planted-${pair%:*}" "planted ${pair#*:} %" planted-1-ppm "planted-${pair%:*}-ppm" "$planted"
done
for build in "$builds"/neutral-*/; do
  name=$(basename "$build")
  record "$name" "neutral: ${name#neutral-}" plain "$name" "$neutral"
done
rm -rf "$environments"
exit "$failed"
