#!/usr/bin/env bats
# Filters of Guava 33.4.8 and Cassandra 5.0.4, a million keys each: lanebloom makes the same bytes
# for the same keys and rate, and the real readers give the same answers. The test downloads both,
# so it runs only with LANEBLOOM_EXHAUSTIVE, which test.sh --all sets. It runs in only one preset,
# since the files are the same in each.
# SPDX-License-Identifier: MIT

NKEYS=1000000

setup() {
  [ -z "$REASON" ] || skip "$REASON"
}

# Says why the tests cannot run here, or downloads all that they need and prints nothing.
prepare() {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] ||
    { echo "downloads Guava and Cassandra: LANEBLOOM_EXHAUSTIVE=1 runs it" && return; }
  case $BUILD_DIR in */release) ;; *) echo "runs in the preset release" && return ;; esac
  mvn -v >/dev/null 2>&1 || { echo "no mvn runs here" && return; }
  cp -r "$SOURCE_DIR/tests/jvm" .
  "$SOURCE_DIR/scripts/download.sh" mvn -q -B -f jvm/pom.xml compile \
    dependency:copy-dependencies -DoutputDirectory="$PWD/jvm/jars" >log 2>&1 ||
    echo "Guava and Cassandra cannot be downloaded: $(head -n 1 log)"
}

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  REASON=$(prepare)
  export REASON
  [ -z "$REASON" ] || return 0

  # keys of 8 to 50 bytes, some of them not ASCII; the filters have the first half of those asked
  seed=${LANEBLOOM_TEST_SEED:-$SRANDOM}
  echo "# seed $seed" >&3
  awk -v seed="$seed" -v n="$NKEYS" 'BEGIN {
    srand(seed)
    for (i = 0; i < 2 * n; i++) {
      key = sprintf("%08d", i)
      if (i % 2)
        key = key sprintf("%s%0*d", i % 4 == 1 ? "é" : "e", 1 + int(rand() * 31), i)
      print key
    }
  }' >asked
  head -n "$NKEYS" asked >keys
}

jvm() {
  local folder=$BATS_FILE_TMPDIR/jvm
  java -cp "$folder/target/classes:$folder/jars/*" lanebloom.Filters "$@"
}

# check FORMAT RATE
check() {
  cd "$BATS_FILE_TMPDIR"
  jvm write "$1" "$NKEYS" "$2" keys "real-$1"
  "$LANEBLOOM" build --raw --format "$1" --rate "$2" --expected "$NKEYS" -o "built-$1" keys
  cmp "real-$1" "built-$1"
  "$LANEBLOOM" screen --raw --format "$1" "real-$1" asked >found
  jvm ask "$1" "built-$1" asked expected
  head -n "$NKEYS" expected | cmp keys -
  [ "$(wc -l <expected)" -gt "$NKEYS" ]
  cmp expected found
}

@test "Guava's strategy of 64 bits" {
  check guava-64 0.01
  "$LANEBLOOM" screen --raw --format guava real-guava-64 asked | cmp expected -
}

@test "Guava's strategy of 32 bits" {
  check guava-32 0.003
}

@test "Cassandra 5.0" {
  check cassandra 0.01
}

@test "Cassandra 5.0, in the form of 3.0 to 3.11" {
  check cassandra-3 0.1
}
