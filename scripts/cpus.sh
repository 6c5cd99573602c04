#!/bin/sh
# cpus.sh [FILE...] makes docs/cpus.html, docs/cpus.md and its pictures from the files in
# results/cpus/. Each FILE, which scripts/bench.sh wrote, is first copied there, without the names
# of machine and program and without values that are computed from its repetitions. $DOCS: another
# folder for the documents.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

for file; do
  name=$(basename "$file" .json | sed 's/-20[0-9-]*T[0-9]*$//')
  name=$name-$(jq -r .context.commit "$file").json
  jq -c 'del(.context.host_name, .context.executable)
    | .benchmarks |= ((map(select(.run_type == "iteration")) | select(. != [])) // .)
    | del(.benchmarks[] | .family_index, .per_family_instance_index, .repetitions,
        .repetition_index, .threads, .iterations)' "$file" >"results/cpus/$name"
done

docs=${DOCS:-docs}
bench/report/lanebloom-report results/cpus/*.json -o "$docs/cpus.html" \
  --markdown "$docs/cpus.md" --pictures "$docs/cpus"
