#!/usr/bin/env bats
# Pebble's binary fuse filters, as bare bytes and in tables: they are screened and described, but
# commands that would set bits refuse them. The last test asks the real Pebble.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes

VECTORS=$SOURCE_DIR/tests/vectors

# make_filter LINE: makes a filter of the vectors; the keys of its queries in hex, one per line; and
# the keys that may be in it. The empty key is left out.
make_filter() {
  awk -v line="$1" '!/^#/ && ++n == line {
      for (i = 4; i <= 6; i++) sub(/^[a-z]*=/, "", $i)
      printf "%s", $5 >"filter.hex"
      n = split($4 "," $6, asked, ",")
      for (i = 1; i <= n; i++) {
        split(asked[i], of, ":")
        if (of[1] == "") continue
        print of[1] >"keys"
        if (of[2] != "0") print of[1] >"expected"
      }
      exit
    }' "$VECTORS/pebble_binaryfuse.txt"
  printf %b "$(sed 's/../\\x&/g' filter.hex)" >filter
}

screens() {
  lanebloom screen --raw --format pebble-binaryfuse --decode hex "$@"
}

@test "keys are screened as Pebble answers, from bare bytes" {
  for line in 1 12 24 36 48 60; do
    rm -f filter keys expected
    make_filter $line
    [[ $(wc -l <expected) -lt $(wc -l <keys) ]]
    screens filter keys | cmp - expected
  done
}

@test "info says format, width and rate" {
  make_filter 36
  run -0 lanebloom info --raw --format pebble-binaryfuse filter
  [[ $output == *"format: pebble-binaryfuse"*"probes per key: 10"*"model: 0.09766 %"* ]]
}

@test "a damaged filter is refused: the message says what its trailer announces" {
  make_filter 24
  cp filter whole
  truncate -s -1 filter
  fails_with "filter: expected a binary fuse filter with 4, 8, 10, 12 or 16 bits per fingerprint," \
    screens filter keys
  (cat whole; printf '\x08') >filter
  fails_with "filter: expected " screens filter keys
  (head -c 1 whole; cat whole) >filter
  fails_with " fingerprints of a binary fuse filter, found $(stat -c %s filter)" \
    screens filter keys
  : >filter # Pebble's reader says of such a filter that no key is in it
  run -1 screens filter keys
}

@test "a filter is not built, no key is added, and filters are not merged" {
  make_filter 24
  refuses " cassandra cassandra-3 cassandra-2, found 'pebble-binaryfuse', which can only be read" \
    lanebloom build --format pebble-binaryfuse -o other keys
  lanebloom extract "$VECTORS/tables_odd/pebble_binaryfuse.sst" -o fuse
  cp fuse kept
  fails_with "fuse: expected a filter that can be merged, found pebble-binaryfuse, which can only" \
    lanebloom merge -o target fuse fuse
  fails_with "fuse: expected a filter that " lanebloom add fuse keys
  cmp fuse kept
  [[ ! -e target && ! -e other ]]
}

@test "a table: its filter is named, and each key is found, there and in a file of its own" {
  table=$VECTORS/tables_odd/pebble_binaryfuse.sst
  lanebloom tables --json "$table" >described
  [[ $(jq '.format == "pebble-binaryfuse" and .filter == "full" and .probes == 8' described) == \
    true ]]
  cp "${table%.sst}.keys.hex" keys
  seq -f '616263%06.0f' 3000 >absent
  cat absent keys | lanebloom screen --decode hex --db "$table" >found
  [[ $(grep -v ^616263 found) == "$(<keys)" && $(grep -c ^616263 found) -lt 40 ]]
  lanebloom extract --raw "$table" -o filter
  cat absent keys | screens filter >alone
  [[ $(grep -v ^616263 alone) == "$(<keys)" && $(grep -c ^616263 alone) -lt 40 ]]
}

# Needs Go and Pebble's source. Pebble's binary fuse filters are in no release yet, so the source
# comes from $LANEBLOOM_PEBBLE_SOURCE, a folder with commit f82e3ff or a later one.
@test "a million keys are answered as the real Pebble answers" {
  exhaustive || skip "only if LANEBLOOM_EXHAUSTIVE=1"
  [[ -n ${LANEBLOOM_PEBBLE_SOURCE-} ]] || skip "LANEBLOOM_PEBBLE_SOURCE names no source of Pebble"
  command -v go >/dev/null || skip "no go runs here"
  cp -r "$SOURCE_DIR/tests/databases/binaryfuse" source
  (cd source && go mod edit -replace "github.com/cockroachdb/pebble=$LANEBLOOM_PEBBLE_SOURCE" &&
    GOTOOLCHAIN=local GOFLAGS=-mod=mod "$SOURCE_DIR/scripts/download.sh" \
      go build -o ../test_binaryfuse .) 2>log || skip "Pebble cannot be built: $(tail -n 1 log)"
  # Keys of up to 300 bytes: a number is repeated up to the size.
  seq 1000000 | awk '{ size = 1 + ($1 * 7919) % ($1 % 50 == 0 ? 300 : 40); key = "k" $1 "/"
      while (length(key) < size) key = key key
      print substr(key, 1, size < 8 ? 8 : size) }' >asked
  for n in 1 2 3 10 100 1000 30000 300000; do
    awk -v n=$n 'NR % 3 == 0 && ++taken <= n' asked >keys
    for bits in 4 8 10 12 16; do
      ./test_binaryfuse build $bits keys filter
      ./test_binaryfuse ask filter asked >expected
      [[ $(wc -l <expected) -ge $n ]]
      lanebloom screen --raw --format pebble-binaryfuse filter asked | cmp - expected
    done
  done
}
