#!/usr/bin/env bats
# Databases that the newest versions of RocksDB write during the test. The test downloads RocksDB,
# so it runs only with LANEBLOOM_EXHAUSTIVE, which test.sh --all sets. It runs in only one preset,
# since the databases are the same in each.
# SPDX-License-Identifier: MIT
bats_require_minimum_version 1.5.0

setup_file() {
  DOWNLOAD_UNTIL=$(($(date +%s) + 300)) # all versions share this time
  export DOWNLOAD_UNTIL
}

setup() {
  [[ ${LANEBLOOM_EXHAUSTIVE-} == 1 ]] || skip "downloads RocksDB: LANEBLOOM_EXHAUSTIVE=1 runs it"
  case $BUILD_DIR in */release) ;; *) skip "runs in the preset release" ;; esac
  mvn -v >/dev/null 2>&1 || skip "no mvn runs here"
  cd "$BATS_TEST_TMPDIR" || return 1
  cp -r "$SOURCE_DIR/tests/rocksdb" .
  mkdir made
}

# list VERSION...: prints databases for Make.java: every format version with filters, checksums,
# codecs and forms of the index.
list() {
  local version table ribbon
  for version; do
    table="format_version=$version;filter_policy=bloomfilter:10:false"
    ribbon="format_version=$version;filter_policy=ribbonfilter:10:-1"
    for codec in kNoCompression kSnappyCompression kZlibCompression kBZip2Compression \
      kLZ4Compression kZSTD; do
      echo "$version-$codec compression=$codec block_based_table_factory={$table;}"
    done
    for sum in kNoChecksum kCRC32c kxxHash kxxHash64 kXXH3; do
      echo "$version-$sum block_based_table_factory={$table;checksum=$sum;}"
    done
    for option in index_type=kBinarySearchWithFirstKey index_type=kTwoLevelIndexSearch \
      data_block_index_type=kDataBlockBinaryAndHash block_size=512 \
      "index_type=kTwoLevelIndexSearch;partition_filters=true" \
      "index_type=kTwoLevelIndexSearch;partition_filters=true;decouple_partitioned_filters=true"; do
      echo "$version-${option//[^a-zA-Z0-9_]/-} block_based_table_factory={$table;$option;}"
    done
    echo "$version-ribbon block_based_table_factory={$ribbon;}"
    echo "$version-ribbon-partitioned" "block_based_table_factory={$ribbon;$(
      )metadata_block_size=512;index_type=kTwoLevelIndexSearch;partition_filters=true;}"
    echo "$version-prefix prefix_extractor=fixed:3 block_based_table_factory={$table;}"
    echo "$version-none block_based_table_factory={format_version=$version;}"
  done
}

# What RocksDB has since 11: values apart from keys, and another search.
list_of_11() {
  local table="format_version=7;filter_policy=bloomfilter:10:false"
  for option in "" ";index_type=kTwoLevelIndexSearch;partition_filters=true" \
    ";index_type=kBinarySearchWithFirstKey" ";data_block_index_type=kDataBlockBinaryAndHash"; do
    echo "apart${option//[^a-zA-Z0-9_]/-}" \
      "block_based_table_factory={$table;separate_key_value_in_data_block=true$option;}"
  done
  for search in kAuto kInterpolation; do
    echo "7-$search block_based_table_factory={$table;index_block_search_type=$search;$(
      )uniform_cv_threshold=0.2;}"
  done
}

# make VERSION CLASSIFIER: makes the databases that the file `databases' names. The first command
# downloads all that the others need.
make() {
  local maven=("$SOURCE_DIR/scripts/download.sh" mvn -q -B -f rocksdb/pom.xml
    -Drocksdb.version="$1" -Drocksdb.classifier="$2")
  run "${maven[@]}" test-compile exec:help
  [[ $status -eq 0 ]] || skip "RocksDB $1 cannot be downloaded: ${lines[0]}"
  seed=${LANEBLOOM_TEST_SEED:-$SRANDOM}
  echo "seed $seed"
  DOWNLOAD_UNTIL='' "${maven[@]}" -o exec:java -Dexec.args="databases made $seed databases"
}

# check CODEC: checks that all keys of RocksDB's iterator are found, that few absent keys are, and
# that there are no warnings but those expected. Each of a few tables lets 1 % of absent keys pass.
# If no other codec is configured, blocks have this CODEC.
check() {
  local name rest version codec default_codec=$1
  head -c 1000000 /dev/urandom >absent
  while read -r name rest; do
    echo "$name"
    [[ $(stat -c %s "made/$name.keys") -gt 100000 ]]
    "$LANEBLOOM" screen --width 10 --db "made/$name" "made/$name.keys" 2>err |
      cmp - "made/$name.keys"
    case $name in
      apart*) [[ $(grep -c "values apart from their keys" err) == $(wc -l <err) && -s err ]] ;;
      *-none)
        [[ $(grep -c "no filter" err) == $(wc -l <err) ]]
        continue
        ;;
      *) [[ ! -s err ]] ;;
    esac
    run --separate-stderr "$LANEBLOOM" screen --width 10 -c --db "made/$name" absent
    [[ $output -lt 8000 ]]
    version=${name%%-*}
    codec=$default_codec
    case $name in
      apart*) version=7 ;;
      *-k*Compression) codec=${name#*-k} codec=${codec%Compression} ;;
      *-kZSTD) codec=zstd ;;
    esac
    "$LANEBLOOM" tables --json "made/$name" 2>/dev/null | jq -es --argjson version "$version" \
      --arg codec "${codec,,}" 'map(select(.filter != "keys")) | length > 1 and all(.[];
        .engine == "rocksdb" and .version == $version and (.codecs // "no") == $codec)'
  done <databases
}

@test "RocksDB 11: format versions 6 and 7, values apart from keys, and another search" {
  list 6 7 >databases
  list_of_11 >>databases
  make 11.8.1 ""
  check lz4
}

@test "RocksDB 10: format versions 6 and 7" {
  list 6 7 >databases
  make 10.10.1.1 linux64
  check snappy
}
