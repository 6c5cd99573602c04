#!/usr/bin/env bats
# Parquet files that other software writes during the test, in the same way as those of
# tests/vectors/parquet. The test downloads the writers, so it runs only with LANEBLOOM_EXHAUSTIVE,
# which test.sh --all sets. It runs in only one preset, since the files are the same in each.
# SPDX-License-Identifier: MIT

setup() {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || skip "downloads writers: LANEBLOOM_EXHAUSTIVE=1 runs it"
  case $BUILD_DIR in */release) ;; *) skip "runs in the preset release" ;; esac
  cd "$BATS_TEST_TMPDIR"
  mkdir files
}

# Makes $python, which has the packages that tests/parquet/make.py needs.
need_python() {
  python=$BATS_FILE_TMPDIR/venv/bin/python
  [ ! -e "$BATS_FILE_TMPDIR/why" ] || skip "$(cat "$BATS_FILE_TMPDIR/why")"
  if [ ! -e "$BATS_FILE_TMPDIR/ready" ]; then
    python3 -m venv "$BATS_FILE_TMPDIR/venv" >venv.log 2>&1 || skip "no venv: $(tail -n 1 venv.log)"
    "$SOURCE_DIR/scripts/download.sh" "$python" -m pip install -q \
      pyarrow==26.0.1 duckdb==2.0.0 xxhash==4.1.0 >pip.log 2>&1 || {
      echo "pyarrow cannot be downloaded: $(grep -v '^$' pip.log | tail -n 1)" \
        >"$BATS_FILE_TMPDIR/why" # the other tests read this file
      skip "$(cat "$BATS_FILE_TMPDIR/why")"
    }
    touch "$BATS_FILE_TMPDIR/ready"
  fi
}

# screened LEAST: checks that screening the files gives the answers of pyarrow and of the filters'
# definition, for more than LEAST columns.
screened() {
  "$python" "$SOURCE_DIR/tests/parquet/make.py" answers files
  PARQUET_FILES=$PWD/files PARQUET_NCOLUMNS=$1 \
    bats --tap -f "what may be where" "$SOURCE_DIR/tests/cli/parquet.bats"
}

@test "pyarrow and DuckDB" {
  need_python
  "$python" "$SOURCE_DIR/tests/parquet/make.py" write files
  screened 45
}

@test "arrow-rs" {
  need_python
  cargo --version >/dev/null 2>&1 || skip "no cargo runs here"
  cp -r "$SOURCE_DIR/tests/parquet/arrow-rs" .
  run "$SOURCE_DIR/scripts/download.sh" cargo build -q \
    --manifest-path arrow-rs/Cargo.toml --target-dir target
  [ "$status" = 0 ] || skip "arrow-rs cannot be built: ${lines[-1]}"
  target/debug/arrow-rs files
  screened 10
}

@test "parquet-mr" {
  need_python
  mvn -v >/dev/null 2>&1 || skip "no mvn runs here"
  cp -r "$SOURCE_DIR/tests/parquet/parquet-mr" .
  run "$SOURCE_DIR/scripts/download.sh" mvn -q -B -f parquet-mr/pom.xml compile exec:java \
    -Dexec.mainClass=Make -Dexec.args="$PWD/files"
  [ "$status" = 0 ] || skip "parquet-mr cannot be run: ${lines[0]}"
  screened 10
}

@test "every key of ten million is found in its row group, absent ones at the rate" {
  need_python
  "$python" "$SOURCE_DIR/tests/parquet/many.py" "$LANEBLOOM" files | sed 's/^/# /' >&3
}
