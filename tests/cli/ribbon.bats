#!/usr/bin/env bats
# RocksDB's Ribbon filters, as bare bytes, in tables and in databases: they are screened and
# described, but commands that would set bits refuse them.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes

# Converts hexadecimal digits to bytes, line by line.
unhex() {
  printf %b "$(sed 's/../\\x&/g')"
}

# Makes the last filter of the vectors; the keys of its queries, one per line; and the keys that
# RocksDB finds. Keys that contain a line end are left out.
make_filter() {
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

# Makes table.sst, a RocksDB table with a Ribbon filter; the table's keys; and nearly as many absent
# keys.
make_table() {
  [[ -n ${DATABASES-} ]] || skip "this build has no LevelDB and RocksDB"
  "$DATABASES" make rocksdb-ribbon database
  cp database/*.sst table.sst
  seq -f 'table%06.0f' 0 2999 >keys
  seq -f 'table%06.0f-' 0 2998 >absent # within the range of the table's keys
}

@test "keys are screened as RocksDB answers, from bare bytes" {
  make_filter
  for format in rocksdb rocksdb-ribbon; do
    lanebloom screen --raw --format $format filter keys | cmp - expected
  done
}

@test "info says format, columns and rate" {
  make_filter
  run -0 lanebloom info --raw --format rocksdb filter
  [[ $output == *"format: rocksdb-ribbon"*"probes per key: 14"*"model: 0.006104 %"* ]]
}

@test "hashes are those of rocksdb-local" {
  make_filter
  lanebloom hash --format rocksdb-local keys >local
  lanebloom hash --format rocksdb-ribbon keys | cmp - local
}

@test "a filter of another format is not one" {
  make_filter
  echo a | lanebloom build --raw -o local
  fails_with "local" lanebloom screen --raw --format rocksdb-ribbon local keys
  fails_with "filter" lanebloom screen --raw --format rocksdb-local filter keys
}

@test "a table: described as its filter is, each key found, few others" {
  make_table
  lanebloom tables --json table.sst >described
  [[ $(jq -r .format described) == rocksdb-ribbon ]]
  [[ $(jq '.probes == 7 and .model_rate > 0.005 and .model_rate < 0.02' described) == true ]]
  lanebloom screen --db table.sst keys | cmp - keys
  n=$(lanebloom screen --db table.sst -c absent || true)
  [[ $n -gt 0 && $n -lt 100 ]]
  [[ $(lanebloom screen --db table.sst --which keys | cut -f 1 | uniq) == table.sst ]]
}

@test "a database: keys of the table and of the log" {
  make_table
  seq -f 'log%06.0f' 0 2999 >>keys
  [[ $(lanebloom tables --no-header database) == *" full:rocksdb-ribbon "* ]]
  cat absent keys | lanebloom screen --db database >found
  [[ $(grep -cv -e - found) -eq 6000 && $(grep -c -e - found) -lt 100 ]]
}

@test "a table's filter in a file of its own answers as it does there" {
  make_table
  run -0 --separate-stderr lanebloom extract table.sst -o filter.lbf
  [[ -z $output && -z $stderr ]]
  cat absent keys >both
  lanebloom screen --db table.sst both >expected
  lanebloom screen filter.lbf both | cmp - expected
  lanebloom verify filter.lbf
  what='[.format, .probes, .filter_bytes, (.model_rate * 1e9 | round)]'
  [[ $(lanebloom info --json filter.lbf | jq -c "$what") == \
    "$(lanebloom tables --json table.sst | jq -c "$what")" ]]
  lanebloom extract --raw table.sst -o filter
  lanebloom screen --raw --format rocksdb filter both | cmp - expected
}

@test "it is asked beside a filter of another format, which shares its hash" {
  make_table
  lanebloom extract table.sst -o ribbon
  lanebloom build -o local absent
  cat absent keys >both
  lanebloom screen --filter ribbon --filter local both | cmp - both
  for name in ribbon local; do
    lanebloom screen --filter ribbon --filter local --which both |
      sed -n "s/^$name\t//p" >found
    lanebloom screen $name both | cmp - found
  done
}

@test "it is not merged, first, last or alone, and no key is added" {
  make_table
  lanebloom extract table.sst -o ribbon
  lanebloom build -o local keys
  echo old >target
  cp ribbon kept
  local message="ribbon: expected a filter that can be merged, found rocksdb-ribbon, which can"
  message+=" only be read; \`lanebloom screen --filter' queries"
  fails_with "$message" lanebloom merge --force -o target ribbon
  fails_with "$message" lanebloom merge --force -o target ribbon ribbon
  fails_with "$message" lanebloom merge --force -o target ribbon local
  fails_with "$message" lanebloom merge --force -o target local ribbon
  fails_with "ribbon: expected a filter that " lanebloom add ribbon absent
  holds target 'old\n'
  cmp ribbon kept
}
