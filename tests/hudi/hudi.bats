#!/usr/bin/env bats
# Filters and answers that Hudi makes during the test. The test downloads Hudi, so it runs only with
# LANEBLOOM_EXHAUSTIVE, which test.sh --all sets. It runs in only one preset, since the files are
# the same in each.
# SPDX-License-Identifier: MIT

setup() {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || skip "downloads Hudi: LANEBLOOM_EXHAUSTIVE=1 runs it"
  case $BUILD_DIR in */release) ;; *) skip "runs in the preset release" ;; esac
  mvn -v >/dev/null 2>&1 || skip "no mvn runs here"
  cd "$BATS_FILE_TMPDIR" || return 1
}

# Makes the files, once for all tests. The first command of Maven downloads all that the second
# needs.
need_files() {
  [ ! -e why ] || skip "$(cat why)" # the first test wrote this file
  [ ! -e ready ] || return 0
  seed=${LANEBLOOM_TEST_SEED:-$SRANDOM}
  echo "seed $seed" >seed
  mkdir files
  cp -r "$SOURCE_DIR/tests/hudi" .
  "$SOURCE_DIR/scripts/download.sh" mvn -q -B -f hudi/pom.xml test-compile exec:help \
    >mvn.log 2>&1 || {
    echo "Hudi cannot be downloaded: $(head -n 1 mvn.log)" >why
    skip "$(cat why)"
  }
  DOWNLOAD_UNTIL='' "$SOURCE_DIR/scripts/download.sh" mvn -o -q -B -f hudi/pom.xml exec:java \
    -Dexec.args="$PWD/files $seed 1000000"
  touch ready
}

@test "the answers of filters for a million keys are those of Hudi" {
  need_files
  cat seed
  n=0
  for answers in files/*.answers; do
    name=${answers%.answers}
    "$LANEBLOOM" screen --raw --format hudi "$name.filter" files/asked | cmp - "$answers"
    n=$((n + 1))
  done
  [ "$n" = 6 ]
}

@test "keys are found by the filters in footers, whoever else wrote the rest of the file" {
  need_files
  cat seed
  python3 -m venv venv >venv.log 2>&1 || skip "no venv: $(tail -n 1 venv.log)"
  "$SOURCE_DIR/scripts/download.sh" venv/bin/python -m pip install -q pyarrow==26.0.1 \
    >pip.log 2>&1 ||
    skip "pyarrow cannot be downloaded: $(grep -v '^$' pip.log | tail -n 1)"
  venv/bin/python "$SOURCE_DIR/tests/hudi/files.py" files
  for answers in files/*.answers; do
    name=${answers%.answers}
    "$LANEBLOOM" screen --parquet "$name.parquet" --hudi "$name.added" | cmp - "$name.added"
    "$LANEBLOOM" screen --parquet "$name.parquet" --column _hoodie_record_key files/asked >passed
    # the range of keys rules out some of the keys that pass the filter, and no key that is there
    "$LANEBLOOM" match -v "$answers" passed >others || [ $? = 1 ]
    [ ! -s others ]
  done
}
