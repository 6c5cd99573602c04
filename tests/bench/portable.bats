#!/usr/bin/env bats
# scripts/bench.sh --portable makes one file that needs nothing on the machine that it is copied to.
# This test downloads Debian's sources. It runs only in one preset and with LANEBLOOM_EXHAUSTIVE,
# which test.sh --all sets.
# SPDX-License-Identifier: MIT

setup() {
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || skip "downloads sources: LANEBLOOM_EXHAUSTIVE=1 runs it"
  cd "$SOURCE_DIR"
  if [ ! -e "$BATS_FILE_TMPDIR/status" ]; then
    local status=0
    DOWNLOAD_UNTIL=$(($(date +%s) + 600)) scripts/bench.sh --portable \
      >"$BATS_FILE_TMPDIR/path" || status=$?
    echo $status >"$BATS_FILE_TMPDIR/status"
  fi
  [ "$(cat "$BATS_FILE_TMPDIR/status")" != 3 ] || skip "Debian's sources cannot be downloaded"
  [ "$(cat "$BATS_FILE_TMPDIR/status")" = 0 ]
  program=$(cat "$BATS_FILE_TMPDIR/path")
  root=$BATS_TEST_TMPDIR/root
  mkdir "$root"
  cp "$program" "$root/lanebloom-bench"
  cd "$BATS_TEST_TMPDIR"
}

@test "it needs no loader, and no library" {
  [ "$(readelf -lW root/lanebloom-bench | grep -c 'INTERP\|DYNAMIC')" = 0 ]
}

@test "in a root without anything else: every answer is right, and the page reads its results" {
  [ "$(id -u)" = 0 ] || skip "only root can change the root"
  chroot root /lanebloom-bench --quick --anyway -o /run.json 2>said
  tail -n 1 said
  tail -n 1 said | grep -q ' rows, [0-9]* unsure, 0 without a result$'
  for peer in leveldb rocksdb-32; do
    jq -e --arg peer "/peer:$peer/" 'any(.benchmarks[].run_name; contains($peer))' root/run.json
  done
  "$SOURCE_DIR/bench/report/lanebloom-report" root/run.json -o page.html
  grep -q '</html>' page.html
}
