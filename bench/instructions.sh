#!/bin/sh
# Counts the instructions per key of the NEON kernels and of the scalar ones in an emulator:
# bench/instructions.sh [ROW-REGEX]. The numbers are no measure of time, because a CPU executes
# several instructions at once, and some take longer than others.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

scripts/setup.sh arm64
build=build/instructions
cmake -S . -B $build -G Ninja \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DLANEBLOOM_BUILD_TESTS=OFF -DLANEBLOOM_BUILD_CLI=OFF \
  -DLANEBLOOM_BUILD_TABLES=OFF \
  >/dev/null
cmake --build $build --target lanebloom_static >/dev/null
aarch64-linux-gnu-gcc -std=c11 -O2 -Iinclude -Isrc bench/instructions.c $build/liblanebloom.a -lm \
  -o $build/instructions

# qemu 7.2 logs a line for each instruction that is executed. The preparation takes the same number
# of instructions whether the work is done once or twice, so the difference of two runs is the work
# alone.
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT
executed() { # KERNEL ROW REPEATS
  qemu-aarch64 -singlestep -d nochain,exec -D "$trace" $build/instructions "$@"
  wc -l <"$trace"
}
per_key() { # KERNEL ROW NKEYS
  once=$(executed "$1" "$2" 1)
  twice=$(executed "$1" "$2" 2)
  echo "$once $twice $3" | awk '{ printf "%.2f", ($2 - $1) / $3 }'
}

printf '%-42s %8s %8s %6s\n' "instructions per key" scalar neon ratio
qemu-aarch64 $build/instructions --rows | grep -E "${1:-.}" | while read -r row nkeys; do
  scalar=$(per_key scalar "$row" "$nkeys")
  neon=$(per_key neon "$row" "$nkeys")
  printf '%-42s %8s %8s %6s\n' "$row" "$scalar" "$neon" \
    "$(echo "$neon $scalar" | awk '{ printf "%.2f", $1 / $2 }')"
done
