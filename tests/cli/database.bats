# lanebloom screen --db: database files.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes
VECTORS=$BATS_TEST_DIRNAME/../vectors/tables

# Makes a folder of tables: one of LevelDB, one of goleveldb, and five of RocksDB with the same 150
# keys.
make_database() {
  mkdir db
  cp "$VECTORS/goleveldb_bloom10.ldb" db/000001.ldb
  cp "$VECTORS/leveldb_bloom10.ldb" db/000002.ldb
  cp "$VECTORS/rocksdb_fv2_crc32c_legacy10.sst" db/000003.sst
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" db/000004.sst
  cp "$VECTORS/rocksdb_fv4_crc32c_legacy10_partitioned.sst" db/000005.sst
  cp "$VECTORS/rocksdb_fv4_xxh64_legacy10_prefix3.sst" db/000006.sst
  cp "$VECTORS/rocksdb_fv5_crc32c_flb10_prefixonly3.sst" db/000007.sst
}

# Makes the keys of RocksDB's tables, which may hold any bytes. lengths/N has the keys of N bytes,
# one after another.
make_keys() {
  local escaped
  mkdir lengths
  while read -r escaped; do
    printf "$escaped" >>"lengths/$((${#escaped} / 4))"
  done < <(grep -v '[#-]' "$VECTORS/keys.txt" | sed 's/../\\x&/g')
}

# Writes the keys that can be lines, without 0 bytes and line ends.
make_lines() {
  printf "$(grep -v '[#-]' "$VECTORS/keys.txt" |
    sed -E '/^(..)*(00|0a)/d; s/../\\x&/g; s/$/\\n/' | tr -d '\n')" >lines
  [[ $(wc -l <lines) -gt 100 ]]
}

# Writes lines that are in no table, but within the tables' ranges.
make_absent() {
  seq -f $'\x7f%06.0f' 1 "$1" >absent
}

@test "tables without a filter: a warning says that most keys pass" {
  odd=$SOURCE_DIR/tests/vectors/tables_odd
  run --separate-stderr lanebloom screen --db "$odd/repeated_keys.ldb" <<<key
  [[ $stderr == *"warning: 1 of 1 tables have no filter: every key between"* ]]
  run --separate-stderr lanebloom screen --db "$VECTORS/leveldb_bloom10.ldb" <<<key
  [[ -z $stderr ]]
}

@test "values apart from keys: the filter is used, a warning says that the range is unknown" {
  table=$VECTORS/rocksdb_fv7_xxh64_flb10_apart.sst
  make_lines
  make_absent 1000
  run -0 --separate-stderr lanebloom screen --db "$table" lines
  [[ $output == "$(<lines)" && $stderr == *"$table: warning: data blocks store values apart"* ]]
  [[ $(lanebloom screen -c --db "$table" absent 2>/dev/null) -lt 40 ]]
}

@test "every key of every table is found, as one of any table and with --which" {
  make_keys
  for table in "$VECTORS"/rocksdb_*.sst; do
    n=$(echo | lanebloom screen -c --db "$table")
    for length in $(ls lengths); do
      nkeys=$(($(stat -c %s lengths/$length) / length))
      n=$((n + nkeys))
      lanebloom screen --width $length --db "$table" lengths/$length | cmp - lengths/$length
      run -1 --separate-stderr lanebloom screen --width $length -v --db "$table" lengths/$length
      [[ -z $output ]]
      count=$(lanebloom screen --width $length --db "$table" --which -c lengths/$length)
      [[ $count == "$table"$'\t'$nkeys ]]
    done
    [[ $n -eq 150 ]]
  done
}

@test "absent keys: few pass, and those that do not are in no table" {
  make_database
  make_absent 20000
  n=$(lanebloom screen --db db/000004.sst -c absent)
  [[ $n -gt 20 && $n -lt 600 ]]
  lanebloom screen --db db absent >some
  lanebloom screen -v --db db absent >none
  sort some none | cmp - <(sort absent)
  for table in db/*; do
    lanebloom screen --db $table absent
  done | sort -u | cmp - <(sort some)
}

@test "a table passes what its filter passes, and only within its range" {
  make_absent 5000
  seq 5000 >below
  seq -f $'\xff%.0f' 5000 >above
  table=$VECTORS/rocksdb_fv5_xxh3_flb10.sst
  lanebloom extract "$table" -o filter
  lanebloom screen --db "$table" absent | cmp - <(lanebloom screen filter absent)
  [[ $(lanebloom screen -c filter below) -gt 0 && $(lanebloom screen -c filter above) -gt 0 ]]
  run -1 --separate-stderr lanebloom screen --db "$table" above
  [[ -z $output && -z $stderr ]] # absent keys are no error
}

@test "--which: TABLE, tab, record, once for each table, in the order of the tables" {
  make_database
  make_lines
  make_absent 5000
  cat lines absent >rows
  lanebloom screen --db db --which rows >named
  for table in db/*; do
    LC_ALL=C awk -F '\t' -v table=$table '$1 == table' named | cut -f 2- |
      cmp - <(lanebloom screen --db $table rows)
  done
  cut -f 2- named | LC_ALL=C uniq | cmp - <(lanebloom screen --db db rows)
  grep -a -A 4 -m 1 ^db/000003 named | cut -f 1 | cmp - <(printf 'db/00000%d.sst\n' 3 4 5 6 7)
}

@test "--which -n, -z and --width" {
  make_database
  make_lines
  lanebloom screen --db db/000003.sst --db db/000004.sst --which -n lines >named
  paste -d '\n' <(grep -an '' lines | sed 's|^|db/000003.sst\t|') \
    <(grep -an '' lines | sed 's|^|db/000004.sst\t|') | cmp - named
  printf '~\n\0~\0' >zero
  lanebloom screen --db db/000004.sst --which -z zero >named
  lanebloom screen --db db/000004.sst -z zero | sed -z 's|^|db/000004.sst\t|' | cmp - named
  printf '~\x81~\x81' | lanebloom screen --db db/000004.sst --which --width 2 >named
  holds named 'db/000004.sst\t~\x81db/000004.sst\t~\x81'
}

@test "--which -c: a line for each table; without, one number" {
  make_database
  make_lines
  make_absent 30000
  cat absent lines absent >rows
  for table in db/*; do
    printf '%s\t%s\n' $table $(lanebloom screen --db $table -c rows)
  done | cmp - <(lanebloom screen --db db --which -c rows)
  [[ $(lanebloom screen --db db -c rows) == $(lanebloom screen --db db rows | wc -l) ]]
  [[ $(lanebloom screen --db db -vc rows) == $(lanebloom screen --db db -v rows | wc -l) ]]
  run -1 lanebloom screen --db db/000004.sst --which -c /dev/null
  [[ $output == $'db/000004.sst\t0' ]]
}

# link_tables N: makes a folder with N links to one table.
link_tables() {
  mkdir db
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" table
  for ((i = 1; i <= $1; i++)); do
    ln table "$(printf 'db/%06d.sst' $i)"
  done
}

@test "--which takes no memory for tables times records" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  link_tables 300
  yes $'\xfe' | head -c 524288 >rows # one chunk with the largest number of records
  (
    ulimit -v 24000 # kB; bitmaps of all tables for all records would take 20 MB
    run -1 --separate-stderr lanebloom screen -j 1 --db db --which rows
    [[ -z $output && -z $stderr ]]
  )
}

@test "--which, more hits than are kept: they take no memory" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  link_tables 300
  yes '~' | head -n 32768 >rows # one chunk; lists of all hits would take 39 MB
  n=$(
    ulimit -v 24000 # kB
    lanebloom screen -j 1 --db db --which rows | wc -l
  )
  [[ $n -eq $((300 * 32768)) ]]
}

@test "--which, more hits than are kept: each record with all its tables, in order" {
  link_tables 300
  yes $'~\n~~' | head -n 2000 >rows # 600,000 hits in one chunk
  ls db/* >tables
  for jobs in -j1 -j2; do
    lanebloom screen $jobs --db db --which -n rows >named
    cut -f 2 named | uniq -c | awk '{ print $1, $2 }' |
      cmp - <(grep -n '' rows | sed 's/^/300 /')
    cut -f 1 named | cmp - <(yes "$(<tables)" | head -n 600000)
  done
}

@test "-n -q and statuses" {
  make_database
  make_lines
  lanebloom screen -n --db db lines | cmp - <(grep -an '' lines)
  run -0 --separate-stderr lanebloom screen -q --db db lines
  [[ -z $output && -z $stderr ]]
  run -0 --separate-stderr lanebloom screen -q --which --db db lines
  [[ -z $output && -z $stderr ]]
  run -1 --separate-stderr lanebloom screen -q -v --db db lines
  [[ -z $output && -z $stderr ]]
  yes '~' | timeout 5 "$LANEBLOOM" screen -q --db db
  run -1 lanebloom screen --db db /dev/null
  run -2 --separate-stderr lanebloom screen --db db lines missing
  [[ $stderr == "lanebloom: missing: No such file or directory" && ${#lines[@]} -gt 100 ]]
}

@test "the result does not depend on -j, nor on the kernel" {
  make_database
  make_lines
  make_absent $(exhaustive && echo 300000 || echo 40000) # several reads of 512 KiB
  cat absent lines absent >rows
  for options in "" "--which" "--which -c" "--which -n" "-v"; do
    lanebloom screen --db db $options -j 1 --kernel scalar rows >expected
    for j in $(exhaustive && echo 2) 5; do
      lanebloom screen --db db $options -j $j rows | cmp - expected
    done
  done
}

@test "several --db, before and after the inputs, which may be pipes" {
  make_database
  make_lines
  mkdir other
  mv db/000004.sst other
  lanebloom screen --db db/000003.sst lines --db other --which - <lines >named
  [[ $(cut -f 1 named | sort | uniq -c | awk '{ print $1, $2 }') == \
    "$((2 * $(wc -l <lines))) db/000003.sst"$'\n'"$((2 * $(wc -l <lines))) other/000004.sst" ]]
  cat lines | lanebloom screen --db other/ --db db | cmp - lines
}

@test "matches show at once while the input stays open" {
  make_database
  mkfifo in out
  "$LANEBLOOM" screen --which --db db/000004.sst <in >out 3>&- &
  exec 5>in 6<out
  for i in 1 2; do
    echo '~' >&5
    read -r -t 5 line <&6
    [[ $line == $'db/000004.sst\t~' ]]
  done
  exec 5>&- 6<&-
  wait $!
}

@test "names of tables hold no tab and no newline" {
  mkdir $'a\tb\nc'
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" $'a\tb\nc/d e.sst'
  [[ $(echo '~' | lanebloom screen --which --db $'a\tb\nc') == 'a\011b\012c/d e.sst'$'\t~' ]]
  [[ $(echo '~' | lanebloom screen --which -c --db $'a\tb\nc') == 'a\011b\012c/d e.sst'$'\t1' ]]
}

@test "one table that cannot be read ends the command before anything is printed" {
  make_database
  make_lines
  head -c 2000 db/000003.sst >cut.sst
  echo text >text.sst
  # New files may still change, so the command would try them again for a while. Therefore these
  # files are made old.
  touch -d '1 minute ago' cut.sst text.sst
  mkdir empty
  fails_with "cut.sst: " lanebloom screen --db db --db cut.sst lines
  fails_with "text.sst: not a table" lanebloom screen --db text.sst --db db lines
  fails_with "missing: No such file or directory" lanebloom screen --db missing lines
  fails_with "empty: expected a folder with .ldb or .sst files" \
    lanebloom screen --db empty --db db lines
  fails_with "cut.sst: " lanebloom screen -q --db db --db cut.sst lines
  ln -s gone db/000008.sst
  cp -p cut.sst db/000009.sst
  run -2 --separate-stderr lanebloom screen -c --db db lines
  [[ -z $output && ${#stderr_lines[@]} -eq 2 && $stderr == *db/000008.sst*db/000009.sst* ]]
}

@test "with --all-files logs are warned of: what they hold is in no table" {
  make_database
  make_lines
  : >db/000011.log
  echo text >db/LOG
  echo text >db/notes.log
  run -0 --separate-stderr lanebloom screen -c --all-files --db db lines
  [[ -z $stderr ]]
  echo text >db/000011.log
  run -0 --separate-stderr lanebloom screen -c --all-files --db db lines
  [[ $stderr == "lanebloom: db/000011.log: warning: "* && ${#stderr_lines[@]} -eq 1 &&
    $output -gt 100 ]]
  fails_with "db: CURRENT: No such file or directory" lanebloom screen -c --db db lines
}

@test "a warning that many tables share is given once" {
  mkdir db
  for i in 1 2 3; do
    cp "$VECTORS/synthetic_fv6_xxh3.bin" db/00000$i.sst
  done
  run -0 --separate-stderr lanebloom screen -c --db db <<<key
  [[ $output == 1 && ${#stderr_lines[@]} -eq 1 &&
    $stderr == "lanebloom: db/000001.sst: warning: "*" (and 2 more)" ]]
}

@test "--writer lets no more keys pass than without it" {
  make_database
  make_absent 20000
  both=$(lanebloom screen -c --db db/000001.ldb absent)
  one=$(lanebloom screen -c --db db/000001.ldb --writer goleveldb absent)
  [[ $one -le $both && $one -gt 0 ]]
  refuses "--writer: expected leveldb or goleveldb, found 'x'" \
    lanebloom screen --db db --writer x absent
}

@test "options that do not go together" {
  make_database
  refuses "give only one of --which and --invert-match" lanebloom screen --db db --which -v
  for option in "--writer goleveldb" --all-files "--column-family x" "--wal-dir x" "--db-path x"; do
    refuses "--all-files, --column-family, --wal-dir and --db-path need --db" \
      lanebloom screen $option filter
  done
  for option in "--column-family x" "--wal-dir x" "--db-path x"; do
    refuses "--all-files reads no MANIFEST" lanebloom screen --db db --all-files $option
  done
  refuses "give only one of --raw and --db" lanebloom screen --raw --format leveldb --db db
  refuses "requires an argument" lanebloom screen --db
}

@test "a filter beside --db is refused as records" {
  make_database
  echo key | lanebloom build -o f.lbf
  fails_with "f.lbf: expected records, found a lanebloom container: --db takes no FILTER" \
    lanebloom screen f.lbf --db db
}

@test "an input that is the output is refused" {
  make_database
  make_lines
  run -2 --separate-stderr bash -c "timeout 5 '$LANEBLOOM' screen --which --db db lines >>lines"
  is_message "lines: input file is also the output"
}

@test "a full device, a closed pipe" {
  make_database
  make_lines
  for option in "" -c --which "--which -c" "--which -n"; do
    run -2 --separate-stderr bash -c "'$LANEBLOOM' screen $option --db db lines >/dev/full"
    is_message "write error: No space left on device"
  done
  make_absent 300000
  run --separate-stderr bash -o pipefail \
    -c "'$LANEBLOOM' screen --which --db db absent absent | head -n 1"
  [[ $status -eq 141 && ${#lines[@]} -eq 1 && -z $stderr ]]
}

# Opening the pipe for writing waits until the command opens it for reading. The command finds that
# the pipe is no table, and its second attempt finds the table that replaced the pipe.
@test "a table that is replaced while it is opened is looked for again" {
  mkdir db
  mkfifo db/000001.sst
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" table
  {
    exec 9>db/000001.sst
    mv -f table db/000001.sst # while the pipe is open, so that the command does not wait for it
  } &
  make_lines
  timeout 60 "$LANEBLOOM" screen --db db lines | cmp - lines
  wait
}

@test "a table that stays unreadable in a folder is named after a while" {
  make_database
  : >db/000008.sst
  fails_with "db/000008.sst: an empty file: not a table, or one that is being written (try again)" \
    lanebloom screen --db db <<<key
}

@test "odd tables lose no key" {
  odd=$SOURCE_DIR/tests/vectors/tables_odd
  finds() { # TABLE KEY...
    printf '%s\n' "${@:2}" >keys
    lanebloom screen --db "$1" keys >found 2>warnings || true
    [ -s warnings ]
    # some builds, such as those for an emulated host, lack codecs
    cmp found keys || grep 'snappy.*, which this build does not read' warnings
  }
  for version in 4 5; do # the table's filter has prefixes of the keys
    finds "$odd/pebble_v$version.sst" abcd
    fails_with "expected a filter of keys, found prefixes by" \
      lanebloom extract "$odd/pebble_v$version.sst" -o filter
  done
  finds "$odd/other_order.ldb" KEY00500 key00400
  finds "$odd/other_kinds/000009.ldb" key00000 key00050
  fails_with "found none" lanebloom screen --db "$odd/empty_index_part.sst" keys
  finds "$odd/lost_index.sst" any
  grep "the index names no data blocks, but the table has keys" warnings
}

@test "of a table in another order the filters are asked" {
  table=$SOURCE_DIR/tests/vectors/tables_odd/other_order.ldb
  run --separate-stderr lanebloom screen -c --db "$table" < <(seq -f 'absent%.0f' 1000)
  [[ $stderr != *"which this build does not read"* ]] || skip "this build lacks its codec"
  [[ $output -lt 100 && $stderr == *"not in bytewise order; every filter is probed for each key"* ]]
}

@test "of a table with a very large value the filter is asked all the same" {
  table=$SOURCE_DIR/tests/vectors/tables_odd/large_value.sst
  run --separate-stderr lanebloom screen --db "$table" <<<large
  [[ $stderr != *"zstd"*"which this build does not read" ]] || skip "this build lacks zstd"
  [[ $status -eq 0 && $output == large &&
    $stderr == *"very large, so the key range is not known" ]]
  run -1 lanebloom screen --db "$table" <<<absent
}

@test "filters of prefixes of two lengths are asked together" {
  odd=$SOURCE_DIR/tests/vectors/tables_odd
  for i in {0..499}; do printf '%03dk%05d\n' "$i" "$i"; done >keys
  lanebloom screen --db "$odd/prefixes_of_3.sst" --db "$odd/prefixes_of_5.sst" --which -c keys \
    >found
  [[ $(cut -f 2 found | xargs) == "500 500" ]]
}

@test "what a small table repeats is not read over and over" {
  for name in repeated_block repeated_keys; do
    lanebloom screen --db "$SOURCE_DIR/tests/vectors/tables_odd/$name.ldb" <<<any 2>warnings
    grep "a data block is damaged or too large, so the order of keys is not known" warnings
  done
}

@test "a small table cannot take all memory" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  echo key >keys
  bomb=$SOURCE_DIR/tests/vectors/tables_odd/bomb.sst
  (ulimit -v 400000 && fails_with "found more" lanebloom screen --db "$bomb" keys)
}
