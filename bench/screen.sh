#!/bin/sh
# Compares `lanebloom screen` with Debian's `bloom check` and with `grep -Fxf`, which take turns on
# the same keys: bench/screen.sh [RECORDS [KEYS [ROUNDS [RESULT]]]]. Records are lines of 12
# hexadecimal digits, and none of them is a key; output is discarded. Each program uses one thread,
# except in the row -j2. lanebloom uses the default kernel, except in the row -scalar. Prints for
# each row the median seconds, the median ratio of its time to the time of the first row, and the
# peak memory. RESULT is a file of scripts/bench.sh, to which the rows are added.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
nrecords=${1:-10000000} nkeys=${2:-100000} nrounds=${3:-7} result=${4:+$(realpath "$4")}
[ "$nrecords" -ge 1000000 ] ||
  { echo "bench/screen.sh: fewer than 1000000 records are over too soon" >&2; exit 2; }
scripts/setup.sh build bench
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DLANEBLOOM_BUILD_TESTS=OFF >/dev/null
cmake --build build/bench >/dev/null
lanebloom=$PWD/build/bench/cli/lanebloom

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

random_lines() { od -An -v -tx1 -w6 /dev/urandom | tr -d ' ' | head -n "$1"; }
random_lines "$nkeys" >keys
random_lines "$nrecords" | grep -vFxf keys >records # by chance, a record could be a key
for format in rocksdb-local leveldb; do
  "$lanebloom" build --format $format -o $format.lbf keys
done
bloom create -n "$nkeys" -p 0.01 keys.bloom
bloom insert keys.bloom <keys

# Runs a command and adds "NAME SECONDS KILOBYTES" to the results. The exit status 1 is no error,
# because grep exits with 1 if no line matches.
timed() { # NAME COMMAND...
  name=$1
  shift
  begin=$(date +%s%N)
  /usr/bin/time -q -o kilobytes -f %M "$@" >/dev/null <records || [ $? = 1 ]
  end=$(date +%s%N)
  echo "$name $(((end - begin) / 1000000)) $(tail -n 1 kilobytes)" |
    awk '{ print $1, $2 / 1000, $3 }' >>results
}
round() {
  for format in rocksdb-local leveldb; do timed $format "$lanebloom" screen -j 1 $format.lbf -; done
  timed rocksdb-local-j2 "$lanebloom" screen -j 2 rocksdb-local.lbf -
  timed rocksdb-local-scalar "$lanebloom" screen -j 1 --kernel scalar rocksdb-local.lbf -
  timed bloom bloom check keys.bloom
  timed grep grep -Fxf keys
}
for _ in $(seq "$nrounds"); do round; done

median() {
  sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}
grep -m1 'model name' /proc/cpuinfo || uname -m
nbytes=$(wc -c <rocksdb-local.lbf)
echo "$nrecords records, $nkeys keys, filter of $nbytes bytes, $nrounds rounds in turns"
for name in rocksdb-local leveldb rocksdb-local-j2 rocksdb-local-scalar bloom grep; do
  awk -v name="$name" '$1 == name { print $2 }' results >"$name.seconds"
  seconds=$(median <"$name.seconds")
  kilobytes=$(awk -v name="$name" '$1 == name { print $3 }' results | sort -n | tail -1)
  ratio=$(paste "$name.seconds" rocksdb-local.seconds | awk '{ print $1 / $2 }' | median)
  jq -n --arg name "$name" "{name: \$name, lines_per_second: ($nrecords / $seconds),
    peak_kib: $kilobytes}" >>commands
  awk -v name="$name" -v s="$seconds" -v n="$nrecords" -v kb="$kilobytes" -v ratio="$ratio" \
    'BEGIN {
      printf "%-20s %7.3f s  %6.1f million records/s  ", name, s, n / s / 1e6
      printf "%5.2f times  %6.1f MiB at peak\n", ratio, kb / 1024
    }'
done
[ -z "$result" ] || {
  jq --slurpfile commands commands '.commands = $commands' "$result" >with_commands
  cp with_commands "$result"
}
