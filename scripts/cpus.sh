#!/bin/sh
# cpus.sh [FILE...] makes docs/cpus.html, docs/cpus.md and the pictures in docs/cpus/ from the files
# in results/cpus/. First it copies each FILE, a result of scripts/bench.sh, into results/cpus/,
# prints the name of the copy, and deletes an older copy of the same CPU. The copy leaves out the
# names of the machine and of the program, and the values that are computed from repetitions. If the
# file does not say which code of the library was measured, git finds it by the commit. If $DOCS is
# set, the documents are written into that folder.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

# Files that do not say family and model may be of different CPUs, although their names are equal.
cpu() { # FILE
  jq -c --arg file "$1" '.context | [.cpu, .cpu_family // $file, .cpu_model // $file]' "$1"
}

for file; do
  commit=$(jq -r .context.commit "$file")
  name=$(basename "$file" .json | sed 's/-20[0-9-]*T[0-9]*$//')
  copy=results/cpus/$name-$commit.json
  tree=$(git rev-parse --verify --quiet "$commit:src" || :)
  jq -c --arg tree "$tree" 'del(.context.host_name, .context.executable)
    | if $tree != "" then .context.library_tree //= $tree else . end
    | .benchmarks |= ((map(select(.run_type == "iteration")) | select(. != [])) // .)
    | del(.benchmarks[] | .family_index, .per_family_instance_index, .repetitions,
        .repetition_index, .threads, .iterations)' "$file" >"$copy"
  for other in results/cpus/*.json; do
    [ "$other" = "$copy" ] || [ "$(cpu "$other")" != "$(cpu "$copy")" ] || rm "$other"
  done
  echo "$copy"
done

docs=${DOCS:-docs}
bench/report/lanebloom-report results/cpus/*.json -o "$docs/cpus.html" \
  --markdown "$docs/cpus.md" --pictures "$docs/cpus"
