#!/usr/bin/env bats
# bench/report/lanebloom-report: the numbers are in the page, the page needs nothing else, and a
# browser shows it.
# SPDX-License-Identifier: MIT

setup_file() {
  export REPORT="$SOURCE_DIR/bench/report/lanebloom-report" SAMPLES="$SOURCE_DIR/tests/report"
  cd "$BATS_FILE_TMPDIR"
  "$REPORT" "$SAMPLES/xeon.json" -o one.html
  "$REPORT" "$SAMPLES/xeon.json" "$SAMPLES/neoverse.json" -o two.html
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

# The first table behind an anchor whose caption begins so, as text: its head, then a line per row.
rows() { # FILE ANCHOR CAPTION
  sed -n "/<h2 id=\"$2\">/,\$p" "$1" | sed -n "/<caption>$3/,\$p" | sed '/<\/table>/q' |
    sed 's/<caption>.*<\/caption>//; s/<[^>]*>/ /g; s/  */ /g; s/^ //; s/ $//'
}

browser() { # ARGUMENT...
  command -v chromium >/dev/null || {
    [ -z "${CI:-}" ] && [ "${REQUIRE_CHROMIUM:-}" != 1 ] && skip "chromium is not installed"
    echo "chromium is not installed" && return 1
  }
  timeout 25 chromium \
    --headless --no-sandbox --disable-gpu --disable-background-networking --hide-scrollbars \
    --user-data-dir="$BATS_TEST_TMPDIR/profile" --window-size=1200,2500 "$@" 2>/dev/null
}

refused() { # EXPECTED-TEXT FILE...
  expected=$1
  shift
  run "$REPORT" "$@" -o refused.html
  echo "$output"
  [ "$status" = 2 ]
  [[ $output == "lanebloom-report: "*"$expected"* ]]
  [ "${#lines[@]}" = 1 ]
  [ ! -e refused.html ]
}

@test "one file: medians, ratios and multiples of the floor" {
  rows one.html screen-leveldb "hits 0 %" >found
  cat found
  grep -qx "16 KiB 1 MiB 16 MiB" found
  grep -qx "scalar 20.0 20.0 30.0" found # the best of three, of which one is 1.25 times as long
  grep -qx "avx2 2.50 3.20 6.40" found
  grep -qx "peer:leveldb 25.0 24.0 32.0" found
  grep -qx "peer:libbloom 40.0 44.0 60.0" found
  grep -qx "floor 0.325 0.631 4.15" found # 1.81 accesses; elements up to 1 MiB, lines beyond
  sed -n '/^times as fast as scalar/,/^times as fast as peer/p' found |
    grep -qx "avx2 8.00 6.25 4.69"
  sed -n '/^times as fast as peer:leveldb/,/^times as fast as peer:libbloom/p' found |
    grep -qx "avx2 10.0 7.50 5.00"
  sed -n '/^multiple of the floor/,$p' found | grep -qx "avx2 7.70 5.07 1.54"
}

@test "hashing, building, batches, loading and the floor have their numbers" {
  rows one.html hash bloomhash | grep -qx "scalar 0.430 0.670 1.30 3.20 10.0"
  rows one.html build leveldb | grep -qx "peer:leveldb 19.0 20.0 30.0"
  rows one.html batch "hits 0 %" >found
  sed -n '/1 key per call/,$p' found | grep -qx "avx2 1.00 8.68 13.2"
  # the peer is asked one by one
  sed -n '/times as fast as peer:leveldb/,$p' found | grep -qx "avx2 0.758 6.58 10.0"
  rows one.html threads "hits 0 %" >found
  grep -qx "avx2 8.00 4.00" found
  grep -qx "floor 2.00 1.00" found # of as many threads
  sed -n '/multiple of the floor/,$p' found | grep -qx "avx2 4.00 4.00"
  rows one.html many rocksdb-local | grep -qx "avx2 2.50 3.50"
  rows one.html load "Loading and mapping" | grep -qx "load 4.10 250 4,200"
  rows one.html floor "Measured in the same run" | grep -qx "sequential reading, GB/s 110 68.0 30.0"
  rows one.html screen-leveldb "Other k, hash included: ns per key" | grep -qx "avx2 3.90"
}

@test "what was not measured is named, what was not understood too" {
  rows one.html screen-leveldb "hits 100 %" | grep -qx "avx2 2.80 – 19.0"
  grep -q "Missing rows: .*hits 100 %, avx2: 256 KiB, 1 MiB, 256 MiB" one.html
  missing="hash/bloomhash-signed, screen/leveldb-signed/hits:0/k:6/with-hash, "
  grep -q "<dt>no rows of</dt><dd>$missing" one.html
  failed="screen/leveldb/scalar/KiB:256/.*/with-hash (wrong number of hits)"
  grep -q "without a result</dt><dd>$failed<" one.html
  grep -q "<dt>rows not understood</dt><dd>guess/leveldb<" one.html
}

@test "the machine is described as the file has it" {
  grep -q "<dt>cpu</dt><dd>Sample Xeon &lt;2 MiB of L2 &amp; more&gt;</dd>" one.html
  for line in "kernels</dt><dd>avx2 scalar" "compiler</dt><dd>GNU 12.2.0" \
    "flags</dt><dd>-O3 -DNDEBUG" \
    "commit</dt><dd>0123456789" "microcode</dt><dd>0x2b000603" \
    "gather_data_sampling</dt><dd>Not affected" "page_size_bytes</dt><dd>4096"; do
    grep -q "<dt>$line</dd>" one.html
  done
  grep -q "L2 Unified 2 MiB" one.html
}

@test "peers that no registry has are cited as such" {
  rows one.html cited "Times as fast as LevelDB" >found
  cat found
  sed -n '/^cited, not measured here/,/^measured here/p' found |
    grep -q "^Boost classic, .* 3.57 / 1.42 4.40 / 1.55 "
  sed -n '/^measured here/,$p' found |
    grep -q "leveldb, avx2 10.0 / 6.07 – 7.50 / – 5.00 / 1.47 – –$"
}

@test "two files: each with its numbers, and their ratios" {
  rows two.html screen-leveldb "hits 0 %" >found
  cat found
  sed -n '/^A: ns per key/,/^A: times/p' found | grep -qx "avx2 2.50 3.20 6.40"
  sed -n '/^B: ns per key/,/^B: times/p' found | grep -qx "neon 4.00 5.00 10.0"
  sed -n '/^B: times as fast as A/,$p' found >ratios
  grep -qx "scalar 0.800 0.800 0.800" ratios
  grep -qx "fastest of each 0.625 0.640 0.640" ratios
  rows two.html side "Geometric means" | grep -q "^scalar 0.800 ([0-9]*) 0.800 "
  grep -q "<h3>A: Sample Xeon .*(xeon.json)</h3>" two.html
  grep -q "<h3>B: Sample Neoverse (neoverse.json)</h3>" two.html
}

@test "the same input gives the same bytes" {
  PYTHONHASHSEED=7 "$REPORT" "$SAMPLES/xeon.json" "$SAMPLES/neoverse.json" >again.html
  cmp two.html again.html
}

@test "the page loads nothing, and its ids are unique and complete" {
  for page in one.html two.html; do
    run grep -niE 'https?:|src=|srcset|@import|@font-face|<script|<link|<iframe' "$page"
    [ "$status" = 1 ]
    run bash -c "grep -oE '(href=\"|url\()[^#]' $page"
    [ "$status" = 1 ]
    grep -oE ' id="[^"]*"' "$page" | sed 's/.*="//; s/"//' | sort >ids
    [ -z "$(uniq -d ids)" ]
    grep -oE '(href="|url\()#[^")]*' "$page" | sed 's/.*#//' | sort -u >wanted
    [ -s wanted ]
    [ -z "$(comm -13 ids wanted)" ]
  done
}

@test "bad input is refused with its name, what was expected and what was found" {
  refused "none.json: expected a readable file, found: No such file" none.json
  echo "ns" >text.json
  refused "text.json: expected google/benchmark's JSON, found something else: " text.json
  echo '{"rows": []}' >members.json
  refused 'expected an object with an object "context" and a list "benchmarks", found members' \
    members.json
  echo '{"context": {}, "benchmarks": [{"name": "BM_other"}]}' >other.json
  refused "other.json: expected rows such as screen/leveldb/" other.json
  [[ $output == *"found BM_other" ]]
  echo '{"context": {"caches": [1]}, "benchmarks": []}' >caches.json
  refused "caches.json: expected caches with type, level and size in the context, found 1" \
    caches.json
  sed 's/"items_per_second": *[0-9.e+]*/"items_per_second": "many"/' "$SAMPLES/xeon.json" \
    >number.json
  refused "number.json: expected a positive number as items_per_second of row 'screen/" \
    "$SAMPLES/xeon.json" number.json
  [[ $output == *"found 'many'" ]]
}

@test "--help explains, and a wrong option is an error" {
  run "$REPORT" --help
  [ "$status" = 0 ]
  [[ $output == *"self-contained HTML page"* ]]
  run "$REPORT"
  [ "$status" = 2 ]
}

@test "headless Chromium shows the numbers and the plots" {
  browser --dump-dom "file://$PWD/two.html" >dom.html
  grep -q "<td>2.50</td><td>3.20</td><td>6.40</td>" dom.html
  [ "$(grep -o '<svg' dom.html | wc -l)" = "$(grep -o '<svg' two.html | wc -l)" ]
  [ "$(grep -o '<svg' dom.html | wc -l)" -ge 9 ]
  browser --screenshot="$PWD/page.png" "file://$PWD/two.html"
  /usr/bin/python3 - <<'END'
from matplotlib.image import imread
pixels = (imread("page.png")[:, :, :3] * 255).round().astype(int)
colors = {"paper": (0xFF, 0xFF, 0xFF), "avx2's line": (0x00, 0x72, 0xB2),
          "the floor": (0xDD, 0xDD, 0xDD)}
for name, color in colors.items():
    found = int((abs(pixels - color).sum(axis=2) == 0).sum())
    print(name, found)
    assert found > 500
END
}
