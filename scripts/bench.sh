#!/bin/sh
# bench.sh [--quick|--full] [OPTION...] measures the kernels, other implementations and the limits
# of the hardware. Options are passed to lanebloom-bench. The result is written into
# results/CPU-TIME.json, and its name is printed. Without --quick or --full this takes two minutes.
# To compare two results, run bench/report/lanebloom-report A B.
#
# bench.sh --readme [OPTION...] measures the same, and then the command beside others, in four
# minutes. It publishes the result with scripts/cpus.sh, and writes the figures into README.md and
# docs/how-the-kernels-work.md.
#
# bench.sh --portable [arm64] measures nothing. It makes build/portable/lanebloom-bench, or with
# arm64 build/portable-arm64/lanebloom-bench: a single static program that runs on any Linux of its
# CPU.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

if [ "${1-}" = --portable ]; then
  preset=portable${2:+-$2}
  scripts/setup.sh "$preset"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" >&2
  cp "build/$preset/bench/lanebloom-bench" "build/$preset/"
  echo "build/$preset/lanebloom-bench"
  exit 0
fi

readme=
if [ "${1-}" = --readme ]; then
  readme=1
  shift
  [ -z "$(git status --porcelain --untracked-files=no)" ] || {
    echo "bench.sh: expected no uncommitted changes, found some: commit them, because the" \
      "documents name the commit" >&2
    exit 2
  }
  scripts/setup.sh report
fi
scripts/setup.sh build bench
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DLANEBLOOM_BUILD_TESTS=OFF \
  -DLANEBLOOM_BUILD_BENCHMARKS=ON >/dev/null
cmake --build build/bench --target lanebloom-bench >/dev/null
mkdir -p results
file=$(cd results && ../build/bench/bench/lanebloom-bench "$@")
case $file in
/*) ;;
*) file=results/$file ;;
esac
echo "$file"
if [ -n "$readme" ]; then
  bench/screen.sh 10000000 100000 3 "$file"
  published=$(scripts/cpus.sh "$file")
  bench/report/documents.py --of "$published" README.md docs/how-the-kernels-work.md
  echo "$published"
fi
