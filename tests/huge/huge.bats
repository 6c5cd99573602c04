#!/usr/bin/env bats
# Sizes and counts that exceed 32 bits, with real memory and disk: filters are built, saved, loaded
# and screened in full. This file is not part of the test round, because it takes 6 GiB of memory,
# 11 GiB of disk in $TMPDIR, and minutes.
#
#   LANEBLOOM=build/release/cli/lanebloom bats tests/huge/huge.bats
#
# SPDX-License-Identifier: MIT
load ../cli/helper

NKEYS=5000000
GIB=$((1 << 30))

size_of() {
  stat -c %s "$1"
}

# needs MEMORY DISK: skips the test if so many bytes are not available.
needs() {
  local memory disk
  memory=$((1024 * $(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)))
  disk=$(df --output=avail -B1 . | tail -n 1)
  ((memory > $1 && disk > $2)) ||
    skip "needs $1 bytes of memory and $2 of disk; there are $memory and $disk"
}

# Makes a filter whose payload has NBYTES and whose trailer has NTRAILER bytes. With 8 bits per key,
# it has as many bytes as expected keys, and 5 probes.
round_trip() { # FORMAT NBYTES NTRAILER
  needs $(($2 + GIB)) $((2 * $2 + GIB))
  seq $NKEYS >present
  seq $((NKEYS + 1)) $((NKEYS + 1000000)) >absent
  lanebloom build --format "$1" --bits 8 --expected "$2" -o filter present
  [[ $(size_of filter) -eq $((64 + $2 + $3)) ]]
  lanebloom info --json filter >info
  jq -e --argjson n "$2" --argjson trailer "$3" --argjson keys $NKEYS \
    '.keys == $keys and .filter_bytes == $n + $trailer and .probes == 5 and
      .bits_set > 3 * $keys and .bits_set <= 5 * $keys' info
  [[ $1 == leveldb* ]] && bits=$(($2 < GIB / 2 ? 8 * $2 : 4 * GIB)) || bits=$((8 * $2))
  [[ $(jq .bits info) == "$bits" ]]
  [[ $(lanebloom screen -c filter present) == "$NKEYS" ]]
  for kernel in $(lanebloom kernels --json | jq -r '.kernels[]'); do
    lanebloom screen --kernel "$kernel" filter absent >found || [[ $? -eq 1 ]] # 1: no hit
    [[ ! -e passed ]] || cmp found passed
    mv found passed
  done
  [[ $(wc -l <passed) -lt 10000 ]] # some absent keys have the hash of a present one

  lanebloom build --format "$1" --bits 8 --expected "$2" --raw -o raw present
  tail -c +65 filter | cmp - raw
  lanebloom screen --raw --format "$1" raw absent | cmp - passed
  rm raw

  # Changes one bit near the end, beyond 4 GiB if the filter is that large.
  last=$(($(size_of filter) - 9))
  byte=$(od -An -tu1 -j $last -N 1 filter)
  printf "\\$(printf %03o $((byte ^ 1)))" | dd of=filter bs=1 seek=$last conv=notrunc status=none
  fails_with "damaged: expected checksum" lanebloom screen filter absent
  truncate -s -1 filter
  fails_with "truncated: expected a payload of" lanebloom screen filter absent
  rm filter
}

@test "leveldb: 2^32 bits less one byte" { round_trip leveldb $((GIB / 2 - 1)) 1; }
@test "leveldb: 2^32 bits, 2^29 bytes" { round_trip leveldb-signed $((GIB / 2)) 1; }
@test "leveldb: 2^32 bits and one byte" { round_trip leveldb $((GIB / 2 + 1)) 1; }
@test "leveldb: 4 GiB" { round_trip leveldb $((4 * GIB)) 1; }
@test "leveldb: 5 GiB" { round_trip leveldb $((5 * GIB)) 1; }
@test "rocksdb-local: 2^29 bytes less a line" { round_trip rocksdb-local $((GIB / 2 - 64)) 5; }
@test "rocksdb-local: 2^29 bytes" { round_trip rocksdb-local $((GIB / 2)) 5; }
@test "rocksdb-local: 2^29 bytes and a line" { round_trip rocksdb-local $((GIB / 2 + 64)) 5; }
@test "rocksdb-local: 4 GiB less a line, the largest" {
  round_trip rocksdb-local $((4 * GIB - 64)) 5
}
@test "rocksdb-legacy: 2^29 bytes less 8 KiB, nearly the largest" {
  round_trip rocksdb-legacy $((GIB / 2 - 8256)) 5
}

@test "more than 2^32 keys, and the number of the last record" {
  needs $GIB $GIB
  n=$((4 * GIB + 5))
  truncate -s $((n - 1)) records # NULs, one key each
  printf x >>records
  printf '\0' >key
  lanebloom build --width 1 -o one key
  lanebloom build --width 1 --expected 1000 -o many records
  [[ $(lanebloom info --json many | jq .keys) == "$n" ]]
  [[ $(lanebloom screen --width 1 -c one records) == "$((n - 1))" ]]
  [[ $(lanebloom screen --width 1 -c many records) == "$n" ]]
  [[ $(lanebloom screen --width 1 -v -n one records) == "$n:x" ]]
}

@test "a record longer than 4 GiB" {
  needs $((6 * GIB)) $GIB
  truncate -s $((4 * GIB + 999)) record
  cp record other
  printf x >>record
  printf y >>other
  for width in "" "--width $((4 * GIB + 1000))"; do
    lanebloom build --bits 100 $width -o filter record
    [[ $(lanebloom info --json filter | jq .keys) == 1 ]]
    [[ $(lanebloom screen -c $width filter record) == 1 ]]
    run -1 lanebloom screen -c $width filter other
    [[ $output == 0 ]]
  done
}
