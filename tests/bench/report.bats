#!/usr/bin/env bats
# bench/report/lanebloom-report: the page has the numbers and the verdict and needs no other file,
# and a browser shows the page, also on a phone and in dark mode.
# SPDX-License-Identifier: MIT

setup_file() {
  export REPORT="$SOURCE_DIR/bench/report/lanebloom-report" SAMPLES="$SOURCE_DIR/tests/bench/report"
  cd "$BATS_FILE_TMPDIR"
  "$REPORT" "$SAMPLES/xeon.json" -o one.html
  "$REPORT" "$SAMPLES/xeon.json" "$SAMPLES/neoverse.json" -o two.html
  for family_model in 6:143 6:173 25:1 25:17 26:2 25:250; do
    named "$family_model" "AMD EPYC 9654 96-Core Processor" "${family_model/:/-}.json"
  done
  "$REPORT" 6-143.json 6-173.json 25-1.json 25-17.json 26-2.json 25-250.json -o six.html
}

# Writes the Xeon's sample as another CPU's, with FAMILY:MODEL or FAMILY:MODEL:STEPPING.
named() { # NUMBERS CPU FILE
  jq --arg numbers "$1" --arg cpu "$2" '.context.cpu = $cpu | ($numbers / ":") as $n |
    .context += {cpu_family: $n[0], cpu_model: $n[1], cpu_stepping: ($n[2] // "1")}' \
    "$SAMPLES/xeon.json" >"$3"
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

# Prints a table as text: its head, then a line for each row. The table is the first one after the
# anchor whose caption begins with CAPTION.
rows() { # FILE ANCHOR CAPTION
  sed -n "/<details id=\"$2\">/,\$p" "$1" | sed -n "/<caption>$3/,\$p" | sed '/<\/table>/q' |
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
  grep -qx "scalar 20.0 20.0 30.0" found # the median of three, neither the best nor the mean
  grep -qx "avx2 2.50 3.20 6.40" found
  grep -qx "peer:leveldb 25.0 24.0 32.0" found
  grep -qx "peer:libbloom 40.0 44.0 60.0" found
  # The floor is the time of 1.81 accesses: to elements in filters up to 1 MiB, and to cache lines
  # in larger filters.
  grep -qx "floor 0.325 0.631 4.15" found
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
  # The peer is queried one key at a time.
  sed -n '/times as fast as peer:leveldb/,$p' found | grep -qx "avx2 0.758 6.58 10.0"
  rows one.html threads "hits 0 %" >found
  grep -qx "avx2 8.00 4.00" found
  grep -qx "floor 2.00 1.00" found # the floor for the same number of threads
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

@test "two files: each with its numbers" {
  rows two.html screen-leveldb "hits 0 %" >found
  cat found
  A="Sample Xeon &lt;2 MiB of L2 &amp; more&gt;"
  sed -n "/^$A: ns per key/,/^$A: times/p" found | grep -qx "avx2 2.50 3.20 6.40"
  sed -n '/^Sample Neoverse: ns per key/,/^Sample Neoverse: times/p' found |
    grep -qx "neon 4.00 5.00 10.0"
  grep -q "<h3>$A</h3>" two.html
  grep -q "<h3>Sample Neoverse</h3>" two.html
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

@test "a CPU is named by its family, model and stepping, or has their numbers in its name" {
  /usr/bin/python3 -B - "$SOURCE_DIR" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/bench/report")
from cpu_names import cpu_name
for numbers, cpu, expected in (
    ("25 1 1", "AMD EPYC", "AMD EPYC Zen 3"),
    ("25 17 1", "AMD EPYC 9654 96-Core Processor", "AMD EPYC 9654 Zen 4"),
    ("26 2 1", "AMD EPYC", "AMD EPYC Zen 5"),
    ("6 143 8", "Intel(R) Xeon(R) Processor", "Intel Xeon Sapphire Rapids"),
    ("6 173 1", "Intel(R) Xeon(R) Processor", "Intel Xeon Granite Rapids"),
    ("6 85 4", "Intel(R) Xeon(R) CPU @ 2.00GHz", "Intel Xeon Skylake-SP"),
    ("6 85 7", "Intel(R) Xeon(R) CPU @ 2.00GHz", "Intel Xeon Cascade Lake"),
    ("25 250 1", "AMD EPYC", "AMD EPYC family 25 model 250"),
    ("7 0x1 1", "AMD EPYC", "AMD EPYC family 7"),
    ("", "implementer 0x41, part 0xfff", "implementer 0x41, part 0xfff"),
):
    context = dict(zip(("cpu_family", "cpu_model", "cpu_stepping"), numbers.split()), cpu=cpu)
    assert cpu_name(context) == expected, (cpu_name(context), expected)
END
  named 25:1:2 "AMD EPYC" named.json
  "$REPORT" named.json -o named.html
  words named.html | grep -q "^family 25, model 1, stepping 2, 2 CPUs, "
  jq '.context.microarchitecture = "Zen 9"' "$SAMPLES/neoverse.json" >named.json
  "$REPORT" named.json -o named.html
  words named.html | grep -qx "Sample Neoverse Zen 9"
}

# Prints a page's boxes and verdict as text, a line for each row or paragraph.
words() { # FILE
  sed 's/<\/\(tr\|p\|li\|h2\)>/\n/g' "$1" | sed 's/<[^>]*>/ /g; s/  */ /g; s/^ //; s/ $//'
}

# Writes the Xeon's sample under another CPU's name, with every row slower by the factor TIMES.
slower() { # TIMES NAME
  jq --arg name "$2" ".context.cpu = \$name | (.benchmarks[].items_per_second | numbers) /= $1" \
    "$SAMPLES/xeon.json" >"$2.json"
}

@test "cards: keys per second by size and threads, best kernel, times the engine" {
  words one.html >found
  grep -qx "LevelDB, cache 400 – avx2 10" found
  grep -qx "LevelDB, memory 156 – avx2 5.0" found
  grep -qx "RocksDB, memory 250 250 avx2 3.7" found
  grep -q "; keys by several threads: measured for RocksDB (16 MiB) alone$" found
  words two.html | grep -q "; keys by several threads: not measured$"
  jq '.benchmarks += [({name: "threads/\("leveldb", "rocksdb-local")/avx2/KiB:\(16, 16384)/hits:0/
      real_time/threads:2" | gsub("\\s"; ""), items_per_second: 7e8},
      {name: "command/rocksdb-local/avx2/KiB:16/hits:0/jobs:1/real_time", items_per_second: 5e7},
      {name: "command/rocksdb-local/avx2/KiB:16/hits:0/jobs:2/real_time", items_per_second: 9e7}) |
      .run_type = "iteration"]' "$SAMPLES/xeon.json" >all.json
  "$REPORT" all.json -o all.html
  words all.html >found
  grep -qx "LevelDB, cache 400 700 avx2 10" found
  grep -qx "command, cache 50 90 avx2 –" found
  [ "$(grep -c "keys by several threads" found)" = 0 ]
}

@test "the verdict compares the command when two CPUs have its rows" {
  jq '.benchmarks += [{name: "command/rocksdb-local/avx2/KiB:256/hits:0/jobs:\(1, 2)/real_time",
    run_type: "iteration", items_per_second: 5e7}]' "$SAMPLES/xeon.json" >command.json
  jq '.context.cpu = "Fast" | (.benchmarks[] | select(.name | test("^command.*jobs:2")) |
    .items_per_second) = 1e8' command.json >fast.json
  "$REPORT" command.json fast.json -o command.html
  said="with one job Fast and Sample Xeon .* are equal; with a job per CPU Fast is 2.0 times"
  words command.html | grep "^The command (RocksDB, a filter of 256 KiB): $said as fast as Sample"
  run "$REPORT" "$SAMPLES/xeon.json" command.json -o command.html
  words command.html >found
  [ "$(grep -c "^The command" found)" = 0 ]
}

@test "error bars end at the upper quartile, in files of summaries too" {
  jq '.benchmarks |= map(select(.aggregate_name == "median") | .cpu_time = .real_time)' \
    "$SAMPLES/neoverse.json" >plain.json
  jq '.benchmarks += [.benchmarks[] | .aggregate_name = "upper_quartile" | .real_time *= 1.5 |
    .cpu_time *= 1.5]' plain.json >bars.json
  /usr/bin/python3 -B - "$SOURCE_DIR/bench/report" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from results import load
for path, ratio in ("plain.json", 1), ("bars.json", 1.5):
    screens = [by_name for panel, by_name in load(path).rows.items() if panel.question == "screen"]
    points = [point for by_name in screens for by_x in by_name.values() for point in by_x.values()]
    assert {round(point.slow / point.value, 9) for point in points} == {ratio}
END
}

@test "verdict: who is how many times as fast, for filters of 100 kB and of 100 MB" {
  slower 1.6 Slow
  "$REPORT" Slow.json "$SAMPLES/xeon.json" -o verdict.html
  words verdict.html >found
  grep -A2 "^A filter of 100 kB" found | grep -qx "1.6 times as fast as Slow."
  grep -A3 "^LevelDB, absent LevelDB, present RocksDB" found >table
  grep -qx "Slow 250 223 312 312" table
  grep -qx "lead 1.6 × 1.6 × 1.6 × 1.6 ×" table
  A="Sample Xeon &lt;2 MiB of L2 &amp; more&gt;"
  grep -qx "In cache (filters of 16 KiB and 1 MiB): $A is 1.6 times as fast as Slow." found
  grep -qF "measured with 16 KiB, which fits the L1 of Slow (48 KiB) and $A (48 KiB)" found
  slower 1.3 Slow
  slower 2.5 Slower
  "$REPORT" Slower.json Slow.json "$SAMPLES/xeon.json" -o three.html
  words three.html >found
  order="is 1.3 times as fast as Slow and 2.5 times as fast as Slower."
  grep -qF "In cache (filters of 16 KiB and 1 MiB): $A $order" found
}

@test "verdict: less than 12 % apart is equal" {
  slower 1.11 Near
  slower 1.13 Far
  "$REPORT" Near.json "$SAMPLES/xeon.json" -o near.html
  words near.html | grep "^In cache" | grep -q "Near and Sample Xeon.* are equal\.$"
  "$REPORT" Far.json "$SAMPLES/xeon.json" -o far.html
  words far.html | grep "^In cache" | grep -q " is 1.1 times as fast as Far\.$"
}

# Prints a file as another run might write it: each row is faster or slower by up to 2.5 %.
another_run() { # SEED FILE
  /usr/bin/python3 - "$@" <<'END'
import json, random, sys
seed, path = sys.argv[1:]
numbers = random.Random(int(seed))
with open(path, encoding="utf-8") as file:
    document = json.load(file)
factors = {}
for row in document["benchmarks"]:
    factor = factors.setdefault(row.get("run_name", row["name"]), numbers.uniform(0.975, 1.025))
    if "items_per_second" in row:
        row["items_per_second"] *= factor
json.dump(document, sys.stdout)
END
}

# Makes rows of a file slower by a factor.
slow_rows() { # EXPRESSION TIMES
  jq "(.benchmarks[] | select(.name | test(\"$1\")) | .items_per_second | numbers) /= $2"
}

@test "verdict: its words have the figures of the tables" {
  slower 1.14 Slow
  "$REPORT" Slow.json "$SAMPLES/xeon.json" -o figures.html
  words figures.html >found
  grep -A2 "^A filter of 100 kB" found | grep -qx "1.1 times as fast as Slow."
  grep -qx "lead 1.1 × 1.1 × 1.1 × 1.1 ×" found
  slow_rows "hits:100/" 1.3 <Slow.json >other.json
  "$REPORT" other.json "$SAMPLES/xeon.json" -o figures.html
  words figures.html >found
  grep -A2 "^A filter of 100 kB" found | grep -qx "1.1 to 1.5 times as fast as Slow."
  grep -qx "lead 1.1 × 1.5 × 1.1 × 1.5 ×" found
  # On average the CPUs are equal, but each leads in some rows.
  slow_rows "hits:100/" 1.3 <"$SAMPLES/xeon.json" >a.json
  slow_rows "hits:0/" 1.3 <"$SAMPLES/xeon.json" | jq '.context.cpu = "Other"' >b.json
  "$REPORT" a.json b.json -o figures.html
  words figures.html >found
  grep -A1 "^A filter of 100 kB" found | grep -qx "It depends"
  only="LevelDB (absent keys) and RocksDB (absent keys)"
  grep -qF "is 1.3 times as fast as Other for $only; Other is 1.3 times as fast as Sample" found
  grep -qx "lead 1.3 × 1.3 × 1.3 × 1.3 ×" found
}

@test "verdict: two runs of the same CPUs have the same winners" {
  for ratio in 1.01 1.6 2.55; do
    slower $ratio Slow
    for seed in 1 2 3; do
      another_run $seed Slow.json >a.json
      another_run $((seed + 10)) "$SAMPLES/xeon.json" >b.json
      "$REPORT" a.json b.json -o $seed.html
      words $seed.html | grep -A1 "^A filter of" >$seed.winners
      cmp 1.winners $seed.winners
    done
    run cmp -s 1.html 2.html # the figures differ
    [ "$status" = 1 ]
  done
}

@test "CPUs that were measured with other code are marked and not compared" {
  slower 1.6 Slow
  slower 3 Other
  jq '.context.commit = "abc"' Other.json >newer.json
  "$REPORT" Slow.json newer.json "$SAMPLES/xeon.json" -o other.html --markdown other.md
  words other.html >found
  said="Other† is not compared, because it was measured with other code of the library"
  grep -q "$said (commit abc)\." found
  grep -qx "lead 1.6 × 1.6 × 1.6 × 1.6 ×" found
  grep -qx "Other† 133 119 167 167" found
  grep "^In cache" found | grep -q "is 1.6 times as fast as Slow\.$"
  grep -q "^| Other† | 133 | " other.md
  # Without others of the same code there is no verdict. Commits with the same code are compared.
  "$REPORT" newer.json "$SAMPLES/xeon.json" -o other.html
  words other.html >found
  no="no verdict: no two CPUs were measured with the same code of the library\."
  grep "^In cache" found | grep -q "$no"
  grep -A1 "^A filter of 100 kB" found | grep -qx "No verdict"
  jq '.context.library_tree = "tree"' newer.json >a.json
  jq '.context.library_tree = "tree"' "$SAMPLES/xeon.json" >b.json
  "$REPORT" a.json b.json -o other.html
  words other.html | grep "^In cache" | grep -q "is 3.0 times as fast as Other\.$"
  # A commit with changes does not say what the code was.
  jq '.context.commit += "-dirty"' Slow.json >a.json
  jq '.context.commit += "-dirty"' "$SAMPLES/xeon.json" >b.json
  "$REPORT" a.json b.json -o other.html
  words other.html | grep "^In cache" | grep -q "$no"
  # If all files are of one CPU, they compare code.
  jq '.context.cpu = "Slow"' newer.json >a.json
  "$REPORT" a.json Slow.json -o other.html
  words other.html | grep "^In cache" | grep -q "^.*: Slow (0123456789) is 1.9 times as fast as"
}

@test "rows that the file calls unsure are marked, and no verdict is of them" {
  slower 1.6 Unsure
  jq '.context.unsure = ([.benchmarks[].name | select(test("screen/leveldb/avx2/.*/hits:0/"))] |
      join(" ")) | .context.noise = "Other programs ran."' Unsure.json >marked.json
  "$REPORT" marked.json "$SAMPLES/xeon.json" -o marked.html
  words marked.html >found
  grep -qx "Unsure 250 ? 223 312 312" found
  grep -qx "lead – 1.6 × 1.6 × 1.6 ×" found
  grep -q "^A filter of 100 kB" found
  grep "^In cache" found | grep -q "is 1.6 times as fast as Unsure for LevelDB (present keys) and "
  grep -q "Unsure: Other programs ran\." found
  [ "$(grep -c '>?</text>' marked.html)" = 3 ] # once for each size in one chart
  "$REPORT" Unsure.json "$SAMPLES/xeon.json" -o sure.html
  run grep -c '>?</text>' sure.html
  [ "$output" = 0 ]
}

@test "a multiple of the floor below 1 is explained where it stands" {
  section='/<details id="screen-leveldb">/,/<\/details>/p'
  [ "$(sed -n "$section" one.html | grep -c "Below 1, ")" = 0 ]
  jq '(.benchmarks[] | select(.name | test("screen/leveldb/avx2/KiB:16384/hits:0/.*/with-hash")) |
      .items_per_second) = 1e9' "$SAMPLES/xeon.json" >fast.json
  "$REPORT" fast.json -o fast.html
  rows fast.html screen-leveldb "hits 0 %" | grep -qx "avx2 7.70 5.07 0.241 \*"
  [ "$(sed -n "$section" fast.html | grep -c "Below 1, ")" = 1 ]
}

@test "charts: CPUs as colours with their names, and who has no rows is named" {
  sed -n '/id="chart-screen-leveldb"/,/<\/svg>/p' two.html >chart
  grep -q 'fill: var(--cpu0); font-weight: bold.*>Sample Xeon' chart
  grep -q 'fill: var(--cpu1); font-weight: bold.*>Sample' chart
  grep -q 'id="chart-threads"' two.html
  sed -n '/id="chart-threads"/,/<\/section>/p' two.html |
    grep -q "Not measured on Sample Neoverse\."
  run grep -c 'id="chart-command"' two.html
  [ "$output" = 0 ]
  jq '.benchmarks += [{name: "command/rocksdb-local/avx2/KiB:256/hits:0/jobs:\(1, 2)/real_time",
    run_type: "iteration", items_per_second: 5e7}]' "$SAMPLES/xeon.json" >command.json
  "$REPORT" command.json -o command.html
  grep -q 'id="chart-command"' command.html
  rows command.html command "hits 0 %" >found
  grep -qx "1 2" found
  grep -qx "avx2 20.0 20.0" found
}

@test "charts: a single point has no line, and lines of many engines have one name" {
  connections() { # JOBS: the lines between names and points
    jq ".benchmarks += [{name: \"command/rocksdb-local/avx2/KiB:256/hits:0/jobs:\($1)/real_time\",
      run_type: \"iteration\", items_per_second: 5e7}]" "$SAMPLES/xeon.json" >command.json
    "$REPORT" command.json -o command.html
    sed -n '/id="chart-command"/,/<\/section>/p' command.html | grep -c "stroke-width: 0.6" || :
  }
  [ "$(connections "1, 2")" = 1 ]
  [ "$(connections 1)" = 0 ]
  jq 'del(.benchmarks[] | select(.name | test("screen/.*KiB:(16|1024)/")))' "$SAMPLES/xeon.json" \
    >point.json
  "$REPORT" point.json -o point.html
  sed -n '/id="chart-screen-leveldb"/,/<\/svg>/p' point.html >chart
  [ "$(grep -c '<use.*var(--cpu0)' chart)" = 4 ] # the engine's median, a median, ends of its bar
  sed -n '/id="chart-screen-leveldb"/,/<\/svg>/p' six.html >chart
  [ "$(grep -c '>LevelDB</text>' chart)" = 1 ]
  [ "$(grep -c '>AMD EPYC 9654' chart)" = 6 ]
}

@test "without matplotlib, one sentence says what to install, and --help explains" {
  mkdir -p fake
  echo "raise ModuleNotFoundError('No module named matplotlib')" >fake/matplotlib.py
  run env PYTHONPATH=fake "$REPORT" "$SAMPLES/xeon.json" -o none.html
  [ "$status" = 2 ]
  [ "${#lines[@]}" = 1 ]
  [[ $output == "lanebloom-report: "*"install Debian's python3-matplotlib"* ]]
  [ ! -e none.html ]
  run env PYTHONPATH=fake "$REPORT" --help
  [ "$status" = 0 ]
  [[ $output == *"self-contained HTML page"*"Debian's package python3-matplotlib"* ]]
}

@test "charts: the names of CPUs are not cut off" {
  /usr/bin/python3 -B - "$SOURCE_DIR" <<'END'
import sys
from glob import glob
sys.path.insert(0, sys.argv[1] + "/bench/report")
import plots
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from results import load_all
for paths in glob(sys.argv[1] + "/results/cpus/*.json"), glob("[0-9]*-[0-9]*.json"):
    files = load_all(sorted(paths))
    for question in plots.questions(files):
        figure = plots.Figure((plots.SIZE[0] / 72, plots.SIZE[1] / 72), dpi=72)
        canvas = FigureCanvasAgg(figure)
        plots.draw(plots.add_axes(figure, 0, 1, 0), files, question, question.charts[0][1])
        canvas.draw()
        for text in figure.findobj(Text):
            right = text.get_window_extent().x1
            assert right <= plots.SIZE[0], f"{question.name}: {text.get_text()} ends at {right}"
END
}

# Prints the width and height in the header of a PNG.
size() { # FILE
  od -An -tx1 -j16 -N8 "$1"
}

@test "pictures and Markdown, which keeps what people wrote behind it" {
  "$REPORT" "$SAMPLES/xeon.json" -o one.html --pictures shown --markdown one.md
  printf 'Written by people.\n' >>one.md
  "$REPORT" "$SAMPLES/xeon.json" -o one.html --pictures shown --markdown one.md
  [ "$(tail -n 1 one.md)" = "Written by people." ]
  grep -qx "| LevelDB, cache | 400 | – | avx2 | 10 |" one.md
  grep -o '(shown/[a-z-]*.png)' one.md | tr -d '()' >pictures
  [ -s pictures ]
  while read -r picture; do
    [[ "$(size "$picture")" == *" 00 00 02 26" ]] # one or two charts wide, and one chart high
  done <pictures
}

# Leaves out the parts that depend on fonts and on the version of matplotlib.
without_figures() { # FILE
  sed '/<svg/,/<\/svg>/d; /made by lanebloom-report/d' "$1"
}

@test "docs/cpus.html, docs/cpus.md and their pictures are what scripts/cpus.sh makes" {
  docs="$SOURCE_DIR/docs"
  mkdir made
  cp "$docs/cpus.md" made
  DOCS="$PWD/made" "$SOURCE_DIR/scripts/cpus.sh"
  cmp "$docs/cpus.md" made/cpus.md
  if [ "$(grep 'made by' "$docs/cpus.html")" = "$(grep 'made by' made/cpus.html)" ]; then
    cmp "$docs/cpus.html" made/cpus.html
  else
    cmp <(without_figures "$docs/cpus.html") <(without_figures made/cpus.html)
  fi
  [ "$(ls "$docs/cpus")" = "$(ls made/cpus)" ]
  for picture in "$docs"/cpus/*.png; do
    [ "$(size "$picture")" = "$(size "made/cpus/${picture##*/}")" ]
  done
  for file in "$SOURCE_DIR"/results/cpus/*.json; do
    [ "$(jq '.context | has("host_name") or has("executable")' "$file")" = false ]
  done
}

@test "scripts/cpus.sh takes a result without the machine's name, and all of its numbers" {
  mkdir -p tree/docs tree/results/cpus tree/scripts
  cp -r "$SOURCE_DIR/bench" tree
  cp "$SOURCE_DIR/scripts/cpus.sh" tree/scripts
  cp "$SAMPLES/xeon.json" tree/results/Sample-Xeon-2026-11-20T120000.json
  git init -q tree
  tree/scripts/cpus.sh results/Sample-Xeon-2026-11-20T120000.json
  [ "$(ls tree/results/cpus)" = Sample-Xeon-0123456789.json ]
  run grep -E 'host_name|executable' tree/results/cpus/Sample-Xeon-0123456789.json
  [ "$status" = 1 ]
  cmp <(sed '/<h2 id="numbers">/q' one.html) <(sed '/<h2 id="numbers">/q' tree/docs/cpus.html)
  grep -q '(cpus/screen-leveldb.png)' tree/docs/cpus.md
  # If the file does not say which code was measured, git says it.
  mkdir tree/src
  echo "/* code */" >tree/src/code.c
  git -C tree add src
  git -C tree -c user.name=n -c user.email=n@example.org commit -q -m code
  commit=$(git -C tree rev-parse HEAD)
  for has in null '"other"'; do
    jq --arg commit "$commit" ".context += {commit: \$commit, library_tree: $has}" \
      "$SAMPLES/xeon.json" >tree/results/Sample-Xeon-2026-11-20T120000.json
    tree/scripts/cpus.sh results/Sample-Xeon-2026-11-20T120000.json
    jq -r .context.library_tree "tree/results/cpus/Sample-Xeon-$commit.json" >>trees
  done
  diff trees - <<END
$(git -C tree rev-parse HEAD:src)
other
END
}

@test "scripts/cpus.sh deletes an older file of the same CPU" {
  mkdir -p other/docs other/results/cpus other/scripts
  cp -r "$SOURCE_DIR/bench" other
  cp "$SOURCE_DIR/scripts/cpus.sh" other/scripts
  for numbers in 25:1:1 25:17:1; do
    named $numbers "AMD EPYC" "other/results/cpus/AMD-EPYC-${numbers//:/-}.json"
  done
  named 25:1:2 "AMD EPYC" other/results/AMD-EPYC-2026-11-20T120000.json
  # These files may be of two CPUs, because they do not say family and model.
  for commit in abc def; do
    jq --arg commit $commit 'del(.context.cpu_family, .context.cpu_model) |
      .context.commit = $commit' other/results/AMD-EPYC-2026-11-20T120000.json \
      >other/results/AMD-EPYC-$commit.json
  done
  mv other/results/AMD-EPYC-abc.json other/results/cpus
  [ "$(other/scripts/cpus.sh results/AMD-EPYC-2026-11-20T120000.json)" = \
    results/cpus/AMD-EPYC-0123456789.json ]
  other/scripts/cpus.sh results/AMD-EPYC-def.json
  [ "$(ls other/results/cpus)" = "AMD-EPYC-0123456789.json
AMD-EPYC-25-17-1.json
AMD-EPYC-abc.json
AMD-EPYC-def-def.json" ]
}

# Makes a document of the Xeon's sample with rows that README needs. COMMANDS are those of
# bench/screen.sh.
document() { # COMMANDS
  jq '.context += {kernels: "avx2 avx2-loads scalar", cpu: "AMD EPYC", cpu_family: "25",
      cpu_model: "1", leveldb_version: "1.23"} |
    del(.benchmarks[] | select(.name | test("KiB:256/"))) |
    (.benchmarks[] | .name, .run_name | strings) |= sub("KiB:16/"; "KiB:256/") |
    .benchmarks += [{name: "command/rocksdb-local/avx2/KiB:256/hits:0/jobs:1/real_time",
      items_per_second: 5e7}] | .commands = '"$1" "$SAMPLES/xeon.json" >readme.json
  printf '%s\n' before '<!-- figures: summary of none.json -->' '<!-- end of figures -->' between \
    '<!-- figures: tables of none.json -->' x '<!-- end of figures -->' after >document.md
  "$SOURCE_DIR/bench/report/documents.py" --of readme.json document.md
}

@test "documents have the figures of a result file, and their caption" {
  document '[{name: "rocksdb-local", lines_per_second: 88.6e6, peak_kib: 3300},
    {name: "grep", lines_per_second: 1.04e6, peak_kib: 93000}]'
  cp document.md again.md
  "$SOURCE_DIR/bench/report/documents.py" again.md
  cmp document.md again.md
  tr '\n' ' ' <document.md >found
  grep -q "^before <!-- figures: summary of [^ ]*readme.json --> lanebloom is " found
  grep -q "tests a key in 2.0 ns, 6.0 times as fast as RocksDB's own code" found
  grep -q "screens 89 million lines per second on one core" found
  grep -q " <!-- end of figures --> between <!-- figures: tables of " found
  grep -q "one commit: AMD EPYC Zen 3, family 25, .* GNU 12.2.0, LevelDB 1.23, commit 0123" found
  grep -qx '| 256 KiB | `avx2` | 2.50 | 10 | 2.80 | 6.1 |' document.md
  grep -qx '| `lanebloom screen -j 1` | 89 | 3.2 |' document.md
  grep -qx '| `grep -Fxf` | 1.0 | 91 |' document.md
  document "[]"
  grep -qx '| `lanebloom screen -j 1` | 50 | – |' document.md
}

@test "documents whose figures cannot be made are left as they are" {
  refused_document() { # EXPECTED-TEXT ARGUMENT...
    cp document.md before.md
    run "$SOURCE_DIR/bench/report/documents.py" "${@:2}" document.md
    echo "$output"
    [[ $status == 2 && ${#lines[@]} == 1 && $output == "documents.py: "*"$1"* ]]
    cmp before.md document.md
  }
  document "[]"
  refused_document "expected rows of rocksdb-local, RocksDB and the command" \
    --of "$SAMPLES/xeon.json"
  refused_document "none.json: expected a readable file" --of none.json
  jq '.commands = [{name: "grep", lines_per_second: "many", peak_kib: 1}]' readme.json >bad.json
  refused_document "expected commands with lines_per_second and peak_kib" --of bad.json
  echo "no figures" >document.md
  refused_document "document.md: expected a line <!-- figures: NAME of FILE -->, found none"
  printf '<!-- figures: guesses of readme.json -->\n<!-- end of figures -->\n' >document.md
  refused_document "expected figures named summary, tables, library, found guesses"
}

@test "scripts/bench.sh --readme refuses changes that no commit has" {
  mkdir -p changed/scripts
  cp "$SOURCE_DIR/scripts/bench.sh" changed/scripts
  git init -q changed
  git -C changed add scripts
  run changed/scripts/bench.sh --readme
  [ "$status" = 2 ]
  [[ $output == "bench.sh: expected no uncommitted changes, found some: commit them, "* ]]
}

@test "a page is below 1 MB" {
  for page in one.html two.html "$SOURCE_DIR/docs/cpus.html"; do
    [ "$(stat -c %s "$page")" -lt 1000000 ]
  done
}

@test "on a phone only tables of all numbers scroll sideways, with six CPUs too" {
  for page in one two six; do
    sed 's/<details /<details open /' "$page.html" >open.html
    cat >phone.html <<'END'
<title>not measured</title>
<iframe id="phone" src="open.html" style="width: 412px; height: 900px; border: 0"></iframe>
<script>onload = () => {
  const page = phone.contentDocument, root = page.documentElement,
    boxes = [...page.querySelectorAll(".box .tables")],
    wide = boxes.filter(box => box.scrollWidth > box.clientWidth);
  document.title = [root.clientWidth, root.scrollWidth, wide.length, boxes.length].join(" ");
}</script>
END
    browser --allow-file-access-from-files --dump-dom "file://$PWD/phone.html" >dom.html
    grep -o "<title>.*</title>" dom.html
    grep -q "<title>412 412 0 [1-9]</title>" dom.html
  done
}

@test "headless Chromium shows the numbers and the charts, in both schemes" {
  browser --dump-dom "file://$PWD/two.html" >dom.html
  grep -q "<td>2.50</td><td>3.20</td><td>6.40$" dom.html
  [ "$(grep -o '<svg' dom.html | wc -l)" = "$(grep -o '<svg' two.html | wc -l)" ]
  [ "$(grep -o '<svg' dom.html | wc -l)" -ge 9 ]
  browser --screenshot="$PWD/light.png" "file://$PWD/two.html"
  browser --blink-settings=preferredColorScheme=0 --screenshot="$PWD/dark.png" \
    "file://$PWD/two.html"
  /usr/bin/python3 - <<'END'
from matplotlib.image import imread
schemes = {"light.png": {"paper": (0xFF, 0xFF, 0xFF), "first CPU": (0x00, 0x72, 0xB2),
                         "second CPU": (0xD5, 0x5E, 0x00)},
           "dark.png": {"paper": (0x17, 0x18, 0x1B), "first CPU": (0x4A, 0xA8, 0xE8),
                        "second CPU": (0xF2, 0x87, 0x3A)}}
for picture, colors in schemes.items():
    pixels = (imread(picture)[:, :, :3] * 255).round().astype(int)
    for name, color in colors.items():
        found = int((abs(pixels - color).sum(axis=2) == 0).sum())
        print(picture, name, found)
        assert found > 500
END
}
