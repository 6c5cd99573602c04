# lanebloom tables.
# SPDX-License-Identifier: MIT
load helper
load interpose

export LC_ALL=C # keys are bytes
VECTORS=$BATS_TEST_DIRNAME/../vectors/tables

# copy NAME...: makes a folder `db` of these tables, under short names.
copy() {
  local n=1
  mkdir -p db
  for name in "$@"; do
    cp "$VECTORS/$name" "$(printf 'db/%06d.%s' $n "${name##*.}")"
    n=$((n + 1))
  done
}

@test "a line of eleven words for each table, and one that names them" {
  copy leveldb_bloom10.ldb rocksdb_fv3_xxh32_legacy10.sst rocksdb_fv5_xxh3_flb10_partitioned.sst \
    rocksdb_fv4_xxh64_legacy10_prefix3.sst rocksdb_fv5_crc32c_flb10_prefixonly3.sst
  run -0 --separate-stderr lanebloom tables db
  [[ -z $stderr && $(awk '{ print NF }' <<<"$output" | sort -u) == 11 ]]
  awk '{ print $1, $2, $3, $4, $5, $6, $7 }' <<<"$output" | diff - <(
    echo 'FILE ENGINE FILTER ENTRIES BITS RATE SMALLEST'
    echo 'db/000001.ldb leveldb block:leveldb - - 0.978% ""'
    echo 'db/000002.sst rocksdb/3 full:rocksdb-legacy 150 10.24 1.16% ""'
    echo 'db/000003.sst rocksdb/5 partitioned:rocksdb-local 150 17.07 0.101% ""'
    echo 'db/000004.sst rocksdb/4 full:rocksdb-legacy+prefixes 150 23.89 0.608% ""'
    echo 'db/000005.sst rocksdb/5 full:rocksdb-local:prefixes 150 10.24 - ""'
  )
  [[ ${lines[2]} == *' \201\201\377\352\316 - - -' ]]
}

@test "--json: an object per line, with all that is known" {
  copy leveldb_bloom10.ldb rocksdb_fv5_xxh3_flb10.sst rocksdb_fv5_crc32c_flb10_prefixonly3.sst
  run -0 --separate-stderr lanebloom tables --json db
  [[ -z $stderr && ${#lines[@]} -eq 3 ]]
  members="file engine version checksum filter format whole_keys prefixes probes filters"
  members+=" filter_bytes file_bytes entries bits_per_key model_rate smallest smallest_hex largest"
  members+=" largest_hex filter_name comparator prefix_extractor codecs warning level column_family"
  [[ $(jq -r 'keys_unsorted | join(" ")' <<<"${lines[0]}") == "$members" ]]
  [[ $(jq -c '[.file, .engine, .version, .checksum, .filter, .format, .probes, .filters, .entries,
    .bits_per_key]' <<<"$output") == \
'["db/000001.ldb","leveldb",0,"crc32c","block","leveldb",6,3,null,null]
["db/000002.sst","rocksdb",5,"xxh3","full","rocksdb-local",6,1,150,10.24]
["db/000003.sst","rocksdb",5,"crc32c","full","rocksdb-local",6,1,150,10.24]' ]]
  [[ $(jq -c '[.filter_bytes, .file_bytes, .filter_name, .comparator]' <<<"${lines[1]}") == \
    '[197,4922,"fullfilter.rocksdb.BuiltinBloomFilter","leveldb.BytewiseComparator"]' ]]
  [[ $(jq -c '[.whole_keys, .prefixes, .prefix_extractor]' <<<"${lines[2]}") == \
    '[false,true,"rocksdb.FixedPrefix.3"]' ]]
  jq -es '.[2].model_rate == null and all(.[:2][]; .model_rate > 0 and .model_rate < 0.02)' \
    <<<"$output"
}

@test "the codecs of blocks are named" {
  lanebloom --version | grep -q '^tables:.* zlib' || skip "this build lacks zlib"
  databases=$SOURCE_DIR/tests/vectors/databases
  [[ $(lanebloom tables --no-header "$databases/minecraft" | awk '{ print $NF }') == \
    $'zlib\nzlib\n-' ]]
  [[ $(lanebloom tables --json "$databases/minecraft" | jq -c .codecs) == \
    $'"zlib"\n"zlib"\nnull' ]]
}

@test "--json: keys of any bytes in hexadecimal, as text where they are UTF-8" {
  copy rocksdb_fv5_xxh3_flb10.sst
  [[ $(lanebloom tables --json db |
    jq -c '[.smallest, .smallest_hex, .largest, .largest_hex]') == '["","",null,"8181ffeace"]' ]]
}

@test "a folder's tables in the order of their numbers; nothing else of it" {
  for name in 1000000.sst 000009.ldb 000010.sst 999999.sst sub.sst/000001.sst; do
    mkdir -p "db/$(dirname $name)"
    cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" db/$name
  done
  touch db/{LOG,LOCK,IDENTITY,000012.sst.tmp,.sst,ldb}
  run -0 --separate-stderr lanebloom tables --no-header db
  [[ -z $stderr &&
    $(awk '{ print $1 }' <<<"$output") == \
      $'db/000009.ldb\ndb/000010.sst\ndb/999999.sst\ndb/1000000.sst' ]]
  [[ $(lanebloom tables --no-header db/ | cut -d ' ' -f 1 | head -n 1) == db/000009.ldb ]]
  cd db
  [[ $(lanebloom tables --no-header . | cut -d ' ' -f 1 | head -n 1) == ./000009.ldb ]]
}

@test "files and folders in the order of the command line, under any name" {
  copy rocksdb_fv5_xxh3_flb10.sst leveldb_bloom10.ldb
  cp db/000001.sst some.table
  [[ $(lanebloom tables --no-header some.table db db/000002.ldb | awk '{ print $1 }') == \
    $'some.table\ndb/000001.sst\ndb/000002.ldb\ndb/000002.ldb' ]]
}

@test "names of any bytes are one word, and text in JSON" {
  copy rocksdb_fv5_xxh3_flb10.sst
  mv db $'d b\t\n'
  mv $'d b\t\n/000001.sst' $'d b\t\n/für \377.sst'
  run -0 lanebloom tables --no-header $'d b\t\n'
  [[ ${#lines[@]} -eq 1 &&
    $(awk '{ print NF, $1 }' <<<"$output") == '11 d\040b\011\012/für\040\377.sst' ]]
  [[ $(lanebloom tables --json $'d b\t\n' | jq -r .file) == 'd b\011\012/für \377.sst' ]]
  mv $'d b\t\n' db
  mv db/* 'db/a b.sst'
  [[ $(lanebloom tables --json db | jq -r .file) == 'db/a b.sst' ]]
  cp 'db/a b.sst' ./-v
  [[ $(lanebloom tables --no-header -- -v | awk '{ print $1 }') == -v ]]
}

@test "what cannot be read is named, the rest is listed; the status is 2" {
  copy rocksdb_fv5_xxh3_flb10.sst leveldb_bloom10.ldb
  head -c 1000 db/000001.sst >db/000003.sst
  echo 'no table' >db/000004.sst
  : >db/000005.ldb
  ln -s missing db/000006.sst
  mkfifo db/000007.sst
  for option in --json --no-header; do
    run -2 --separate-stderr timeout 5 "$LANEBLOOM" tables $option db missing
    [[ ${#lines[@]} -eq 2 && ${#stderr_lines[@]} -eq 6 ]]
    for i in {3..7}; do
      [[ $stderr == *"lanebloom: db/00000$i."*": "* ]]
    done
    [[ $stderr == *"missing: No such file or directory"* &&
      $stderr == \
      *"db/000004.sst: not a table, or one that is being written (try again): expected"*"found"* ]]
  done
  fails_with "missing: No such file or directory" lanebloom tables missing
  fails_with "/dev/null: expected a regular file" lanebloom tables /dev/null
}

@test "a folder that changes is looked into again" {
  copy rocksdb_fv5_xxh3_flb10.sst
  mkfifo db/000002.sst db/000003.sst
  cp db/000001.sst table
  {
    exec 9>db/000002.sst # while the tables are opened, one is replaced and one removed
    mv -f table db/000002.sst
    exec 8>db/000003.sst
    rm db/000003.sst
  } &
  run -0 --separate-stderr timeout 60 "$LANEBLOOM" tables --no-header db
  [[ -z $stderr && $(awk '{ print $1 }' <<<"$output") == $'db/000001.sst\ndb/000002.sst' ]]
  wait
}

@test "a filter of prefixes alone has no rate, and lets all pass where it is not used" {
  vectors=$SOURCE_DIR/tests/vectors
  rate() {
    lanebloom tables --no-header "$1" 2>/dev/null | awk '{ print $6 }'
  }
  [[ $(rate "$vectors/tables/rocksdb_fv5_crc32c_flb10_prefixonly3.sst") == - ]]
  [[ $(rate "$vectors/tables_odd/pebble_v4.sst") == 100% ]]
}

@test "a table that is being written is called so" {
  copy rocksdb_fv5_xxh3_flb10.sst
  head -c 2000 db/000001.sst >db/000002.sst
  for command in "tables --no-header db" "screen --db db keys"; do
    run -2 --separate-stderr lanebloom $command
    [[ ${#stderr_lines[@]} -eq 1 ]]
    [[ $stderr == "lanebloom: db/000002.sst: "*"being written"*"try again"* ]]
  done
}

@test "a truncated table that changed long ago is not said to be written" {
  head -c 2000 "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" >old.sst
  : >empty.sst
  echo 'no table' >short.sst
  touch -d '2 minutes ago' old.sst empty.sst short.sst
  for file in old.sst empty.sst short.sst; do
    for command in "tables $file" "screen --db $file /dev/null" "extract $file -o filter"; do
      fails_with "not a table, or a truncated one" lanebloom $command
      [[ $stderr != *"written"* && $stderr != *"try again"* ]]
    done
  done
}

@test "a container is no table: the message has the verbs that read one" {
  numbers 1 100 >keys
  lanebloom build -o filter.lbf keys
  head -c -1 filter.lbf >cut.lbf
  for file in filter.lbf cut.lbf; do
    for command in "tables $file" "screen --db $file keys" "extract $file -o other"; do
      fails_with "$file: expected a table, found a lanebloom container: \`lanebloom info' desc" \
        lanebloom $command
    done
  done
}

@test "what has not changed for a while is not waited for" {
  copy rocksdb_fv5_xxh3_flb10.sst
  head -c 2000 db/000001.sst >db/000002.sst
  touch -d '1 minute ago' db/*
  run -2 --separate-stderr timeout 0.8 "$LANEBLOOM" tables db
  [[ ${#lines[@]} -eq 2 ]]
}

@test "a warning that many tables share is given once" {
  copy synthetic_fv6_xxh3.bin synthetic_fv6_xxh3.bin synthetic_fv6_xxh3.bin
  mv db/000003.bin db/000003.sst
  run -0 --separate-stderr lanebloom tables db/*
  [[ ${#lines[@]} -eq 4 && ${#stderr_lines[@]} -eq 1 ]]
  [[ $stderr == *"db/000001.bin: warning: "*" (and 2 more)" ]]
}

@test "a folder without tables is an error, as is one that is closed" {
  mkdir empty closed
  fails_with "empty: expected a folder with .ldb or .sst files, found none" lanebloom tables empty
  [[ $(id -u) -ne 0 ]] || skip "root reads everything"
  chmod 0 closed
  fails_with "closed: Permission denied" lanebloom tables closed
}

@test "a table that is cut anywhere: one message, or less is known; never a crash" {
  for name in leveldb_bloom10.ldb rocksdb_fv5_xxh3_flb10_partitioned.sst; do
    size=$(stat -c %s "$VECTORS/$name")
    for length in 0 1 4 8 47 48 52 53 54 $(seq 100 397 "$size") $((size - 1)); do
      head -c "$length" "$VECTORS/$name" >cut.sst
      fails_with "cut.sst: " lanebloom tables cut.sst
      fails_with "cut.sst: " lanebloom screen --db cut.sst /dev/null
    done
  done
}

@test "a warning: on standard error, and in JSON" {
  cp "$VECTORS/synthetic_fv6_xxh3.bin" t.sst
  run -0 --separate-stderr lanebloom tables --json t.sst
  [[ ${#stderr_lines[@]} -eq 1 &&
    $stderr == "lanebloom: t.sst: warning: $(jq -r .warning <<<"$output")" ]]
  run -0 --separate-stderr lanebloom tables t.sst
  [[ ${#stderr_lines[@]} -eq 1 && ${#lines[@]} -eq 2 && $output == *" - "* ]]
}

@test "--writer says whose the old name is" {
  copy goleveldb_bloom10.ldb
  [[ $(lanebloom tables --writer goleveldb --json db | jq -r .format) == leveldb ]]
  [[ $(lanebloom tables --writer leveldb --json db | jq -r .format) == leveldb-signed ]]
  refuses "--writer: expected leveldb or goleveldb, found 'rocksdb'" \
    lanebloom tables --writer rocksdb db
  refuses "--writer: expected leveldb or goleveldb, found ''" lanebloom tables --writer= db
}

@test "filters that overlap are counted once" {
  lanebloom tables --json "$SOURCE_DIR/tests/vectors/tables_odd/overlapping_filters.sst" >found
  [[ $(jq '.filters == 1 and .filter_bytes == 517 and .bits_per_key == 2040' found) == true ]]
}

# A table is missing, so the command reads the MANIFEST again. In each run one call of the command
# fails.
@test "the MANIFEST cannot be read again: it is named, and the tables that it named are described" {
  needs_interposing
  cp -r "$VECTORS/../databases/pebble_v2" db
  chmod -R u+w db
  lanebloom tables --no-header db 2>warnings | awk '{ print $1 }' >whole
  [[ $(wc -l <whole) -eq 4 ]]
  table=$(head -n 1 whole)
  rm "$table"
  nagain=0
  for function in open fstat; do
    for ((n = 1; ; n++)); do
      run_with "$function $n fail" tables --no-header db
      [[ -s reached ]] || break
      # Advice follows the error only if the first reading fails.
      [[ $errors == *"db: MANIFEST-000001: Input/output error"* && $errors != *" (--"* ]] ||
        continue
      nagain=$((nagain + 1))
      awk '{ print $1 }' out | diff <(sed 1d whole) -
      [[ $status -eq 2 && $errors == *"lanebloom: $table: No such file or directory"* ]]
    done
  done
  [[ $nagain -eq 2 ]]
  # A screening ends with one message: the tables that can be opened are no answer.
  nagain=0
  echo key >keys
  for ((n = 1; ; n++)); do
    run_with "open $n fail" screen -c --db db keys
    [[ -s reached ]] || break
    [[ $errors == *"db: MANIFEST-000001: Input/output error"* && $errors != *" (--"* ]] || continue
    nagain=$((nagain + 1))
    [[ $status -eq 2 && ! -s out && $(wc -l <<<"$errors") -eq 1 ]]
  done
  [[ $nagain -ge 1 ]]
}

@test "no FOLDER" {
  refuses "expected a FOLDER, a TABLE or a PARQUET file, found none" lanebloom tables
  refuses "expected a FOLDER, a TABLE or a PARQUET file, found none" lanebloom tables --json
}

@test "a full device, a closed pipe" {
  copy rocksdb_fv5_xxh3_flb10.sst
  for option in --json --writer=leveldb; do
    run -2 --separate-stderr bash -c "'$LANEBLOOM' tables $option db >/dev/full"
    is_message "write error: No space left on device"
  done
  run --separate-stderr bash -o pipefail -c "'$LANEBLOOM' tables db | true"
  [[ -z $stderr ]]
}

@test "what docs/database-files.md shows" {
  document=$(realpath "$BATS_TEST_DIRNAME/../../docs/database-files.md")
  sed -n '/^    [$] cd /,/^## /p' "$document" | grep '^    ' | sed 's/^    //' >shown
  awk '/^[$] / || goes_on { sub(/^[$] /, ""); print >"commands"; goes_on = /[\\|]$/; next }
    { print >"expected" }' shown
  [[ $(grep -c '^[$] ' shown) -eq 8 ]]
  sed -i 's|^cd tests/vectors/tables$|cd "$VECTORS"|; s|lanebloom |"$LANEBLOOM" |' commands
  LANEBLOOM=$LANEBLOOM VECTORS=$VECTORS bash commands >found 2>&1 || true
  diff expected <(sed 's/ *$//' found)
}
