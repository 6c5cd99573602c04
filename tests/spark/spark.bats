#!/usr/bin/env bats
# Filters and answers that Spark makes during the test, in the same way as those of
# tests/vectors/spark. The test downloads Spark, so it runs only with LANEBLOOM_EXHAUSTIVE, which
# test.sh --all sets. It runs in only one preset, since the files are the same in each.
# SPDX-License-Identifier: MIT

setup_file() {
  DOWNLOAD_UNTIL=$(($(date +%s) + 300)) # both versions share this time
  export DOWNLOAD_UNTIL
}

setup() {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || skip "downloads Spark: LANEBLOOM_EXHAUSTIVE=1 runs it"
  case $BUILD_DIR in */release) ;; *) skip "runs in the preset release" ;; esac
  mvn -v >/dev/null 2>&1 || skip "no mvn runs here"
  cd "$BATS_TEST_TMPDIR"
  cp -r "$SOURCE_DIR/tests/spark" .
  mkdir frozen random
}

# make VERSION: makes the files of seed 1 and of a new seed. Its first command downloads all that
# the others need.
make() {
  seed=${LANEBLOOM_TEST_SEED:-$SRANDOM}
  echo "seed $seed"
  run "$SOURCE_DIR/scripts/download.sh" mvn -q -B -f spark/pom.xml test-compile exec:help \
    -Dspark.version="$1"
  [ "$status" = 0 ] || skip "Spark cannot be downloaded: ${lines[0]}"
  for arguments in "frozen 1" "random $seed"; do
    DOWNLOAD_UNTIL= "$SOURCE_DIR/scripts/download.sh" mvn -o -q -B -f spark/pom.xml exec:java \
      -Dspark.version="$1" -Dexec.args="$PWD/$arguments"
  done
}

hex() { # FILE: prints its bytes in hex
  od -A n -v -t x1 "$1" | tr -d ' \n'
}

lines_of() { # KEYS, in hex with commas: prints a line for each key; "-": empty, ".": none
  [ "$1" = . ] || tr , '\n' <<<"$1" | sed 's/^-$//'
}

# check FORMAT VERSION: checks that lanebloom builds the same bytes as Spark and gives the same
# answers.
check() {
  for file in frozen/*; do
    diff "$file" "$SOURCE_DIR/tests/vectors/spark/${file##*/}"
  done
  n=0
  while read -r bits nkeys filter keys; do
    lines_of "$keys" | "$LANEBLOOM" build --raw --format "$1" --bits "$bits" --decode hex -o built
    [ "$(hex built)" = "$filter" ] || { echo "$bits bits, $nkeys keys: $keys"; false; }
    n=$((n + 1))
  done < <(grep -v '^#' "random/$2_filters.txt")
  [ "$n" = 126 ]
  n=0
  while read -r filter key answer; do
    basenc --base16 -d <<<"${filter^^}" >asked
    lines_of "$key" >record
    found=$("$LANEBLOOM" screen --raw --format "$1" --decode hex -c asked record) || true
    [ "$found" = "$answer" ] || { echo "$filter, $key: Spark answers $answer"; false; }
    n=$((n + 1))
  done < <(grep -v '^#' "random/$2_queries.txt")
  [ "$n" = 600 ]
}

@test "version 1, by Spark 3.5.9" {
  make 3.5.9
  check spark-v1 v1
}

@test "version 2, by Spark 4.1.3" {
  make 4.1.3
  check spark-v2 v2
}
