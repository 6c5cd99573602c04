#!/usr/bin/env bats
# The benchmarks run, every kernel has its rows, and the answers of every row are checked. Times are
# not judged here.
# SPDX-License-Identifier: MIT

run_rows() { # FILTER
  "$BENCH" --benchmark_filter="$1" --benchmark_min_time=0.001 --benchmark_out_format=json \
    --benchmark_out="$BATS_TEST_TMPDIR/rows.json" >/dev/null
  jq -e '[.benchmarks[] | select(.error_occurred)] == []' "$BATS_TEST_TMPDIR/rows.json" >/dev/null
}

@test "screening: every format and kernel, and the real engines" {
  run_rows '^screen/.*/KiB:16/hits:(0|100)/k:6/with-hash'
  jq -r '.benchmarks[].name' "$BATS_TEST_TMPDIR/rows.json" >"$BATS_TEST_TMPDIR/names"
  for format in leveldb rocksdb-legacy rocksdb-local; do
    for kernel in $("$LANEBLOOM" kernels --json | jq -r '.kernels[]') ; do
      grep -q "^screen/$format/$kernel/KiB:16/hits:0/" "$BATS_TEST_TMPDIR/names"
      grep -q "^screen/$format/$kernel/KiB:16/hits:100/" "$BATS_TEST_TMPDIR/names"
    done
  done
  grep -q '^screen/leveldb/peer:leveldb/' "$BATS_TEST_TMPDIR/names"
  grep -q '^screen/rocksdb-local/peer:rocksdb' "$BATS_TEST_TMPDIR/names"
}

@test "keys of 8 and 16 bytes, each asked of a filter of its own" {
  # Both formats run together, as in a whole run.
  run_rows '^keys/(leveldb|rocksdb-local)/(avx512|scalar|peer.*)/KiB:(16|256)/hits:100/bytes'
  jq -e '.benchmarks | length >= 16' "$BATS_TEST_TMPDIR/rows.json"
}

@test "calls of few keys: every count, and the engines by theirs" {
  run_rows '^batch/(leveldb|rocksdb-local)/(scalar|peer.*)/KiB:256/hits:50/'
  jq -r '.benchmarks[].name' "$BATS_TEST_TMPDIR/rows.json" >"$BATS_TEST_TMPDIR/names"
  for nkeys in 1 2 8 32 64 256 2048 16384; do
    grep -q "^batch/leveldb/scalar/KiB:256/hits:50/keys:$nkeys\$" "$BATS_TEST_TMPDIR/names"
  done
  grep -q '^batch/leveldb/peer:leveldb/.*/keys:1$' "$BATS_TEST_TMPDIR/names"
  grep -q '^batch/rocksdb-local/peer:rocksdb/.*/keys:1$' "$BATS_TEST_TMPDIR/names"
  grep -q '^batch/rocksdb-local/peer:rocksdb-32/.*/keys:32$' "$BATS_TEST_TMPDIR/names"
}

@test "several threads, and the memory's limit for as many" {
  run_rows '^threads/(floor|leveldb/(scalar|peer.*))/.*KiB:16384/(hits:0/)?real_time/threads:[12]$'
  jq -e '[.benchmarks[] | select(.items_per_second > 0) | .threads] | sort == [1, 1, 1, 2, 2, 2]' \
    "$BATS_TEST_TMPDIR/rows.json"
}

@test "hashing, building and the floor" {
  run_rows '^hash/.*/bytes:8|^build/.*/KiB:16$|^floor/.*/KiB:16$'
  jq -e '.benchmarks | length >= 10' "$BATS_TEST_TMPDIR/rows.json"
}

@test "the machine is described" {
  run_rows '^floor/line/KiB:16$'
  jq -e '.context | .kernels and .kernel_active and .compiler and .flags and .page_size_bytes' \
    "$BATS_TEST_TMPDIR/rows.json"
}

@test "the whole command: one job, and one for each CPU" {
  run_rows '^command/.*/scalar/KiB:256/'
  jq -e '.benchmarks | length >= 2 and all(.items_per_second > 0)' "$BATS_TEST_TMPDIR/rows.json"
}

@test "the program is the command under its name" {
  [ "$(bash -c "exec -a lanebloom '$BENCH' --version" | head -n 1)" = \
    "$("$LANEBLOOM" --version | head -n 1)" ]
}

@test "a whole run: how far it is, its results, and which rows are unsure" {
  cd "$BATS_TEST_TMPDIR"
  [ "$("$BENCH" --quick --anyway 2>said -o run.json)" = run.json ]
  tail -n 3 said
  grep -qE '^lanebloom-bench: round [0-9]+: [0-9]+ of [0-9]+ measurements, [0-9]+ s$' said
  nrows=$(jq '[.benchmarks[].run_name] | unique | length' run.json)
  nunsure=$(jq '.context.unsure | split(" ") | length' run.json)
  tail -n 1 said | grep -qx "lanebloom-bench: $nrows rows, $nunsure unsure, 0 without a result"
  [ "$(grep -c '^lanebloom-bench: unsure: ' said)" = "$nunsure" ]
  jq -e --arg best "$("$LANEBLOOM" kernels --json | jq -r .active)" '
    (.context | has("host_name") or has("executable") | not) and
    ([.benchmarks[].aggregate_name] | unique == ["median", "min", "upper_quartile"]) and
    any(.benchmarks[].run_name; startswith("screen/leveldb/\($best)/")) and
    all(.benchmarks[]; .GHz > 0 and .additions_per_cycle > 0)' run.json
  # A row whose repetitions differ widely is marked as unsure.
  jq -r '.benchmarks | group_by(.run_name)[] | .[0].run_name as $name |
    (if $name | contains("real_time") then "real_time" else "cpu_time" end) as $time |
    map({(.aggregate_name): .[$time]}) | add |
    select(.median > 1.051 * .min or .upper_quartile > 1.051 * .median) | $name' \
    run.json >apart
  jq -r '.context.unsure | split(" ")[]' run.json >unsure
  sort apart >wanted
  [ -z "$(sort unsure | comm -23 wanted -)" ]
}

@test "results say which CPU and which code of the library were measured" {
  run_rows '^hash/bloomhash/scalar/bytes:4$'
  jq .context "$BATS_TEST_TMPDIR/rows.json" >"$BATS_TEST_TMPDIR/context.json"
  said() { # NAME
    jq -r ".$1 // \"\"" "$BATS_TEST_TMPDIR/context.json"
  }
  cpu() { # NAME: the number of the first CPU, or nothing, because Linux names other CPUs otherwise
    awk -F '[\t:]+ *' -v name="$1" '$1 == name { print $2; exit }' /proc/cpuinfo
  }
  [ "$(said cpu_family)" = "$(cpu "cpu family")" ]
  [ "$(said cpu_model)" = "$(cpu model)" ]
  [ "$(said cpu_stepping)" = "$(cpu stepping)" ]
  for engine in leveldb rocksdb; do
    [[ $(said peers_missing) == *"$engine"* || $(said "${engine}_version") == [0-9]*.[0-9]* ]]
  done
  # The program may have been built before the last commit.
  commit=$(said commit)
  [ "$(said library_tree)" = \
    "$(git -C "$SOURCE_DIR" rev-parse --verify --quiet "$commit:src" || :)" ]
}

@test "other programs: a run is refused" {
  cd "$BATS_TEST_TMPDIR"
  yes >/dev/null &
  other=$!
  run "$BENCH" --quick
  kill "$other"
  echo "$output"
  [ "$status" = 3 ]
  [[ $output == "lanebloom-bench: REFUSED: expected an idle machine, found other programs "* ]]
  [ -z "$(ls)" ]
}
