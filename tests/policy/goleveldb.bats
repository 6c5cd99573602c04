#!/usr/bin/env bats
# lanebloom's builder makes the filters of goleveldb, in a Go program that uses the installed
# library. The test downloads goleveldb, whose checksums Go verifies, so it runs only with
# LANEBLOOM_EXHAUSTIVE, which test.sh --all sets.
# SPDX-License-Identifier: MIT

@test "goleveldb: filters and tables are the same bytes, and databases open with either" {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || skip "downloads goleveldb: LANEBLOOM_EXHAUSTIVE=1 runs it"
  PATH=$PATH:/usr/local/go/bin
  go version >/dev/null 2>&1 || skip "no go runs here"
  export CGO_ENABLED=1 GOTOOLCHAIN=local GOFLAGS=-mod=mod
  cp -r "$SOURCE_DIR/tests/policy/goleveldb" "$BATS_TEST_TMPDIR/goleveldb"
  cd "$BATS_TEST_TMPDIR/goleveldb"
  run "$SOURCE_DIR/scripts/download.sh" go mod download
  [ "$status" = 0 ] || skip "goleveldb cannot be downloaded: ${lines[-1]}"
  cmake --install "$BUILD_DIR" --prefix "$BATS_TEST_TMPDIR/installed" >/dev/null
  libdir=$(dirname "$(find "$BATS_TEST_TMPDIR/installed" -name liblanebloom.so)")
  export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
  [ -z "$(gofmt -l .)" ]
  "$SOURCE_DIR/scripts/download.sh" go vet ./...
  "$SOURCE_DIR/scripts/download.sh" go test -count=1 ./...
}
