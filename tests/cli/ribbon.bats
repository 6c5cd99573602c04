#!/usr/bin/env bats
# RocksDB's Ribbon filters: asked, described, and refused where bits would be set.
# SPDX-License-Identifier: MIT
load helper

# Bytes of hexadecimal digits, line by line.
unhex() {
  printf %b "$(sed 's/../\\x&/g')"
}

# The last filter of the vectors; its keys and others, one per line, and those that RocksDB finds.
# Keys that hold a line's end are left out.
setup() {
  awk '$1 == "F" { filter = $4; n = 0 }
    $1 == "Q" { keys[n] = $2; answers[n++] = $3 }
    END {
      printf "%s", filter >"filter.hex"
      for (i = 0; i < n; i++)
        if (keys[i] !~ /^(..)*0a/ && keys[i] ~ /^(..)+$/) {
          printf "%s0a", keys[i] >"keys.hex"
          if (answers[i] == 1) printf "%s0a", keys[i] >"expected.hex"
        }
    }' "$SOURCE_DIR/tests/vectors/rocksdb_ribbon.txt"
  for name in filter keys expected; do unhex <$name.hex >$name; done
  [[ -s expected && $(wc -l <expected) -lt $(wc -l <keys) ]]
}

@test "keys are screened as RocksDB answers, from bare bytes" {
  for format in rocksdb rocksdb-ribbon; do
    lanebloom screen --raw --format $format filter keys | cmp - expected
  done
}

@test "info says format, columns and rate" {
  run -0 lanebloom info --raw --format rocksdb filter
  [[ $output == *"format: rocksdb-ribbon"*"probes per key: 14"*"model: 0.006104 %"* ]]
}

@test "hashes are those of rocksdb-local" {
  lanebloom hash --format rocksdb-local keys >local
  lanebloom hash --format rocksdb-ribbon keys | cmp - local
}

@test "a filter of another format is not one" {
  echo a | lanebloom build --raw -o local
  fails_with "local" lanebloom screen --raw --format rocksdb-ribbon local keys
  fails_with "filter" lanebloom screen --raw --format rocksdb-local filter keys
}
