#!/bin/sh
# Measures kernels, peers and the hardware's limits: bench.sh [--quick|--full] [OPTION...]. The
# options are lanebloom-bench's. Writes results/CPU-TIME.json and prints its name; without --quick
# or --full it takes two minutes. bench/report/lanebloom-report A B compares two such files.
# bench.sh --portable [arm64]: makes build/portable/lanebloom-bench instead, or that of
# build/portable-arm64: one static program that runs on any Linux of its CPU.
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
