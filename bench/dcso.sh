#!/bin/bash
# Compares screening of DCSO's filters with DCSO's package for Go and with poppy, which take turns
# on the same filters and keys: bench/dcso.sh [ROUNDS [LINES]]. The peers come from registries; if
# one cannot be built, it is left out. Each program uses one thread. Prints nanoseconds per key, the
# best of the rounds, and how many times as fast as the best peer lanebloom is. Then screens LINES
# lines of SHA-1 (10 million) against a filter of 10^9 bytes, by the commands, of which
# `bloom check` is Debian's build of DCSO's package.
#
# The filters are made of random bits, half of which are set, and of ones: all keys are absent, or
# present. There are 65536 keys, of 8 or 40 bytes, and the filters have 7 or 14 probes.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
source=$PWD nrounds=${1:-3} nlines=${2:-10000000}
scripts/setup.sh build bench
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DLANEBLOOM_BUILD_TESTS=OFF \
  -DLANEBLOOM_BUILD_BENCHMARKS=ON >/dev/null
cmake --build build/bench --target lanebloom-cli lanebloom-lines >/dev/null
lanebloom=$source/build/bench/cli/lanebloom

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C PATH=$PATH:/usr/local/go/bin GOTOOLCHAIN=local GOFLAGS=-mod=mod
cp -r "$source/tests/dcso/go" "$source/tests/dcso/poppy" .
programs=()
if (cd go && "$source/scripts/download.sh" go build -o ../go-peer .) 2>go.log; then
  programs+=("go ./go-peer time")
else
  echo "DCSO's package is left out: $(tail -n 1 go.log)"
fi
if "$source/scripts/download.sh" cargo build -q --release --manifest-path poppy/Cargo.toml \
  --target-dir target 2>poppy.log; then
  programs+=("poppy target/release/dcso time")
else
  echo "poppy is left out: $(tail -n 1 poppy.log)"
fi
programs+=("lanebloom $source/build/bench/bench/lanebloom-lines dcso")

little_endian() { # NUMBER: prints it in 8 bytes
  local i text=
  for i in 0 1 2 3 4 5 6 7; do text+=$(printf '\\x%02x' $(($1 >> 8 * i & 255))); done
  printf %b "$text"
}

make_filter() { # BYTES PROBES SOURCE >FILE: the header's rate is 0.5, which no reader checks
  little_endian 1
  little_endian $(($1 / 2))
  little_endian $((0x3fe0000000000000))
  little_endian "$2"
  little_endian $(($1 * 8 - 3))
  little_endian 0
  case $3 in
    absent) head -c "$1" /dev/urandom ;;
    present) head -c "$1" /dev/zero | tr '\0' '\377' ;;
  esac
}

random_lines() { # NUMBER BYTES: lines of this many hexadecimal digits
  od -An -v -tx1 -w$(($2 / 2)) /dev/urandom | tr -d ' ' | tr a-f A-F | head -n "$1"
}

random_lines 65536 8 >keys-8
random_lines 65536 40 >keys-40
printf '%-8s %10s %5s %6s' keys filter bytes probes
for program in "${programs[@]}"; do printf ' %10s' "${program%% *}"; done
printf ' %9s\n' speed-up
for nbytes in $((128 << 10)) $((256 << 10)) $((16 << 20)) $((256 << 20)) $((1 << 30)); do
  for kind in absent present; do
    for how in "8 7" "40 14"; do
      read -r width nprobes <<<"$how"
      make_filter $nbytes "$nprobes" $kind >filter
      rm -f times-*
      for ((round = 0; round < nrounds; round++)); do
        for program in "${programs[@]}"; do
          read -r name command <<<"$program"
          $command filter "keys-$width" >>"times-$name"
        done
      done
      printf '%-8s %10s %5s %6s' $kind $nbytes "$width" "$nprobes"
      for program in "${programs[@]}"; do
        printf ' %10s' "$(sort -n "times-${program%% *}" | head -n 1)"
      done
      peer=$(sort -n times-go times-poppy 2>/dev/null | head -n 1)
      own=$(sort -n times-lanebloom | head -n 1)
      awk -v peer="${peer:-0}" -v own="$own" 'BEGIN { printf " %9.1f\n", peer / own }'
    done
  done
done

echo "$nlines lines against a filter of 10^9 bytes, seconds:"
make_filter 1000000000 14 absent >filter
random_lines "$nlines" 40 >lines
cat filter lines >/dev/null
seconds() { # NAME COMMAND...
  local begin end
  begin=$(date +%s%N)
  "${@:2}" >/dev/null || [ $? = 1 ]
  end=$(date +%s%N)
  awk -v name="$1" -v ns=$((end - begin)) -v n="$nlines" \
    'BEGIN { printf "%-14s %7.2f  %10.0f lines per second\n", name, ns / 1e9, n / ns * 1e9 }'
}
for ((round = 0; round < nrounds; round++)); do
  ! command -v bloom >/dev/null || seconds "bloom check" bash -c 'bloom check filter <lines'
  [ ! -e target/release/dcso ] || seconds poppy target/release/dcso check filter lines
  for njobs in 1 2; do
    seconds "lanebloom -j$njobs" "$lanebloom" screen --raw --format dcso -j $njobs filter lines
  done
done
