#!/bin/sh
# bench.sh [--quick|--full] [OPTION...] measures the kernels, other implementations and the limits
# of the hardware. Options are passed to lanebloom-bench. The result is written into
# results/CPU-TIME.json, and its name is printed. Without --quick or --full this takes two minutes.
# To compare two results, run bench/report/lanebloom-report A B.
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

scripts/setup.sh build bench
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DLANEBLOOM_BUILD_TESTS=OFF \
  -DLANEBLOOM_BUILD_BENCHMARKS=ON >/dev/null
cmake --build build/bench --target lanebloom-bench >/dev/null
mkdir -p results
cd results
file=$(../build/bench/bench/lanebloom-bench "$@")
case $file in
/*) echo "$file" ;;
*) echo "results/$file" ;;
esac
