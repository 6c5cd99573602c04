# lanebloom extract.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes
VECTORS=$BATS_TEST_DIRNAME/../vectors/tables

# hex FILE: prints the file's bytes in hexadecimal.
hex() {
  od -An -v -tx1 "$1" | tr -d ' \n'
}

# with_keys COMMAND...: runs the command once for each length of the tables' keys. The keys of that
# length are on standard input, one after another.
with_keys() {
  local length
  [[ -d lengths ]] || split_keys
  for length in $(ls lengths); do
    "$@" --width "$length" <"lengths/$length" || return
  done
}

split_keys() {
  local digits
  mkdir lengths
  while read -r digits; do
    printf "$(sed 's/../\\x&/g' <<<"$digits")" >>"lengths/$((${#digits} / 2))"
  done < <(grep -v '[#-]' "$VECTORS/keys.txt")
}

full=(rocksdb_fv2_crc32c_legacy10 rocksdb_fv3_xxh32_legacy10 rocksdb_fv4_xxh64_legacy10_prefix3
  rocksdb_fv5_nosum_flb16 rocksdb_fv5_xxh3_flb10)

@test "a container with the table's own filter" {
  what='[.format, .probes, .filter_bytes, (.model_rate * 1e9 | round)]'
  for name in "${full[@]}"; do
    run -0 --separate-stderr lanebloom extract "$VECTORS/$name.sst" -o filter.lbf
    [[ -z $output && -z $stderr ]]
    [[ $(lanebloom info --json filter.lbf | jq -c "$what") == \
      "$(lanebloom tables --json "$VECTORS/$name.sst" | jq -c "$what")" ]]
  done
}

@test "every key of the table is in it" {
  for name in "${full[@]}"; do
    lanebloom extract "$VECTORS/$name.sst" -o filter.lbf
    [[ $(with_keys lanebloom screen -c filter.lbf | awk '{ n += $1 } END { print n }') == 149 ]]
    [[ $(echo | lanebloom screen -c filter.lbf) == 1 ]]
  done
}

@test "--raw: bytes that stand in the table" {
  for name in "${full[@]}"; do
    lanebloom extract --raw -o raw "$VECTORS/$name.sst"
    [[ $(hex "$VECTORS/$name.sst") == *"$(hex raw)"* ]]
    lanebloom extract --raw -o - "$VECTORS/$name.sst" | cmp - raw
    lanebloom extract -o - "$VECTORS/$name.sst" | lanebloom info - >text
    [[ "$(lanebloom info --raw --format rocksdb raw | grep ^format)" == "$(grep ^format text)" ]]
  done
}

@test "other filters are refused, and named" {
  fails_with "which has many (filter.leveldb.BuiltinBloomFilter2); \`lanebloom screen --db" \
    lanebloom extract "$VECTORS/leveldb_bloom10.ldb" -o filter
  fails_with "found a partitioned filter" \
    lanebloom extract "$VECTORS/rocksdb_fv5_xxh3_flb10_partitioned.sst" -o filter
  fails_with "(partitionedfilter.rocksdb.BuiltinBloomFilter)" \
    lanebloom extract "$VECTORS/rocksdb_fv4_crc32c_legacy10_partitioned.sst" -o filter
  [[ ! -e filter ]]
}

@test "a filter of prefixes alone is taken with --prefixes alone" {
  table=$VECTORS/rocksdb_fv5_crc32c_flb10_prefixonly3.sst
  fails_with "expected a filter of keys, found prefixes by rocksdb.FixedPrefix.3; --prefixes" \
    lanebloom extract "$table" -o filter
  [[ ! -e filter ]]
  lanebloom extract --prefixes "$table" -o filter
  grep -v '[#-]' "$VECTORS/keys.txt" | cut -c 1-6 | grep ...... | sort -u |
    sed 's/../\\x&/g' >escaped
  while read -r prefix; do printf "$prefix"; done <escaped >prefixes
  [[ $(lanebloom screen --width 3 -c filter prefixes) == $(wc -l <escaped) ]]
}

@test "tables that are none, or damaged" {
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" t.sst
  fails_with "missing: No such file or directory" lanebloom extract missing -o filter
  mkdir folder
  fails_with "folder: expected a regular file" lanebloom extract folder -o filter
  numbers 1 10 >text
  fails_with "text: not a table" lanebloom extract text -o filter
  head -c -1 t.sst >cut
  fails_with "cut: " lanebloom extract cut -o filter
  [[ ! -e filter ]]
}

@test "no filter, or one of another policy: the message says which verb helps" {
  local name=fullfilter.rocksdb.BuiltinBloomFilter # this table has no checksums
  sed "s/$name/gull${name:4}/" "$VECTORS/rocksdb_fv5_nosum_flb16.sst" >none.sst
  sed "s/$name/${name%r}x/" "$VECTORS/rocksdb_fv5_nosum_flb16.sst" >other.sst
  fails_with "found none; \`lanebloom tables DIR' shows which tables have one" \
    lanebloom extract none.sst -o filter
  fails_with "not a Bloom filter (${name%r}x); \`lanebloom screen --db' queries it in the table" \
    lanebloom extract other.sst -o filter
  [[ ! -e filter ]]
}

@test "a damaged filter is not saved" {
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" t.sst
  lanebloom extract --raw -o raw t.sst
  before=$(hex t.sst)
  before=${before%%"$(hex raw)"*}
  printf '\125' | dd of=t.sst bs=1 seek=$((${#before} / 2 + 20)) conv=notrunc status=none
  fails_with "t.sst: " lanebloom extract t.sst -o filter
  [[ ! -e filter ]]
}

@test "a filter of which nothing says what it holds is taken with --prefixes alone" {
  fails_with "expected a filter of keys, found one that may hold prefixes instead" \
    lanebloom extract "$VECTORS/synthetic_fv6_xxh3.bin" -o filter
  [[ ! -e filter ]]
  lanebloom extract --prefixes "$VECTORS/synthetic_fv6_xxh3.bin" -o filter
  lanebloom info filter
}

@test "the table stays as it is" {
  cp "$VECTORS/rocksdb_fv5_xxh3_flb10.sst" t.sst
  ln t.sst link
  for force in "" --force; do
    for target in t.sst ./t.sst link; do
      fails_with "t.sst: input file is also the output: write to" \
        lanebloom extract $force t.sst -o $target
    done
  done
  cmp t.sst "$VECTORS/rocksdb_fv5_xxh3_flb10.sst"
}

@test "options" {
  refuses "expected a TABLE, found none" lanebloom extract -o filter
  refuses "expected -o FILE" lanebloom extract t.sst
  refuses "expected one TABLE, found more" lanebloom extract a b -o filter
}

@test "a target that cannot be written" {
  table=$VECTORS/rocksdb_fv5_xxh3_flb10.sst
  fails_with "missing/filter: No such file or directory" \
    lanebloom extract "$table" -o missing/filter
  for option in "" --raw; do
    run -2 --separate-stderr bash -c "'$LANEBLOOM' extract $option '$table' -o - >/dev/full"
    is_message "(standard output): No space left on device"
    # The output is a pipe whose reader has exited.
    run -2 --separate-stderr bash -c "trap '' PIPE; exec 3> >(true); wait \$!
      '$LANEBLOOM' extract $option '$table' -o - >&3"
    [[ -z $stderr ]]
  done
}
