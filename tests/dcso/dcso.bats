#!/usr/bin/env bats
# Filters of a million keys against those of DCSO's package for Go and of poppy: the bytes, and the
# answers for a million keys of which half are absent. The test downloads both, so it runs only with
# LANEBLOOM_EXHAUSTIVE, which test.sh --all sets. It runs in only one preset, since the files are
# the same in each.
# SPDX-License-Identifier: MIT

setup() {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || skip "downloads peers: LANEBLOOM_EXHAUSTIVE=1 runs it"
  case $BUILD_DIR in */release) ;; *) skip "runs in the preset release" ;; esac
  cd "$BATS_TEST_TMPDIR"
}

# Makes the keys: half of them are 40 digits, and half are numbers of many lengths.
make_keys() {
  seed=${LANEBLOOM_TEST_SEED:-$SRANDOM}
  echo "seed $seed"
  { seq -f "$seed.%.0f" 1000000 | "$LANEBLOOM" hash --format parquet |
    awk '{ h = toupper(substr($1, 1, 16)); print h h substr(h, 1, 8) }'
    seq $((seed % 1000)) 7 7000000; } >all
  awk 'NR % 3 > 0' all >keys   # the filter has these
  awk 'NR % 2 > 0' all >asked  # two thirds of these are in it
}

# Prints the keys that a peer says may be in the filter: its answers are 0 and 1.
chosen() {
  paste -d ' ' "$1" asked | sed -n 's/^1 //p'
}

same_answers() { # ANSWERS FILE
  "$LANEBLOOM" screen --raw --format dcso "$2" asked >found
  chosen "$1" >expected
  [ "$(wc -l <expected)" -gt 400000 ]
  cmp found expected
}

@test "DCSO's package for Go" {
  PATH=$PATH:/usr/local/go/bin
  go version >/dev/null 2>&1 || skip "no go runs here"
  export GOTOOLCHAIN=local GOFLAGS=-mod=mod
  cp -r "$SOURCE_DIR/tests/dcso/go" .
  cd go
  run "$SOURCE_DIR/scripts/download.sh" go mod download
  [ "$status" = 0 ] || skip "DCSO/bloom cannot be downloaded: ${lines[-1]}"
  [ -z "$(gofmt -l .)" ]
  "$SOURCE_DIR/scripts/download.sh" go build -o ../peer .
  cd ..
  make_keys
  for rate in 0.001 0.03; do
    ./peer build keys $rate theirs plain
    "$LANEBLOOM" build --raw --format dcso --rate $rate -j 1 -o ours keys
    cmp ours theirs
    "$LANEBLOOM" build --raw --format dcso --rate $rate --expected "$(wc -l <keys)" -j 1 \
      -o sized keys
    cmp sized theirs
    ./peer check ours plain asked >answers
    same_answers answers theirs
  done
  ./peer build keys 0.03 packed gzip "attached data"
  ./peer build keys 0.03 with_data plain "attached data"
  same_answers answers packed
  same_answers answers with_data
}

@test "poppy" {
  cargo --version >/dev/null 2>&1 || skip "no cargo runs here"
  cp -r "$SOURCE_DIR/tests/dcso/poppy" .
  run "$SOURCE_DIR/scripts/download.sh" cargo fetch -q --manifest-path poppy/Cargo.toml
  [ "$status" = 0 ] || skip "poppy cannot be downloaded: ${lines[-1]}"
  run cargo build -q --release --offline --manifest-path poppy/Cargo.toml --target-dir target
  [[ $output != *"requires rustc"* ]] || skip "poppy needs a newer rustc: ${lines[-1]}"
  echo "$output"
  [ "$status" = 0 ]
  make_keys
  for rate in 0.001 0.03; do
    target/release/dcso build keys $rate theirs
    "$LANEBLOOM" build --raw --format dcso --rate $rate -j 1 -o ours keys
    cmp ours theirs
    target/release/dcso check ours asked >answers
    same_answers answers theirs
  done
}
