#!/usr/bin/env bats
# The examples in the documents are what the command prints.
# SPDX-License-Identifier: MIT

# Runs the commands in an extract of a document. There must be at least MIN.
check_commands() { # FILE MIN
  sed -n 's/^    //p' "$1" >shown
  [ "$(grep -c '^\$ ' shown)" -ge "$2" ]
  lanebloom() { "$LANEBLOOM" "$@"; }
  while IFS= read -r line; do
    [[ $line == '$ '* ]] || continue
    printf '%s\n' "$line"
    eval "${line#\$ }" 2>&1 </dev/null || { echo "failed"; false; }
  done <shown >found
  diff shown found
}

@test "the file of docs/file-format.md, byte by byte" {
  cd "$BATS_TEST_TMPDIR"
  printf 'hello\nworld\n' | "$LANEBLOOM" build --format leveldb -o two.lbf
  od -A x -t x1 two.lbf >found
  sed -n '/^000000 /,/^000049$/p' "$SOURCE_DIR/docs/file-format.md" >shown
  [ "$(wc -l <shown)" = 6 ]
  diff shown found
  printf 'hello\nworld\n' | "$LANEBLOOM" hash --filter two.lbf >found
  sed -n '/^    f795964e/,/world$/s/^    //p' "$SOURCE_DIR/docs/file-format.md" >shown
  [ "$(wc -l <shown)" = 2 ]
  diff shown found
}

@test "a row of docs/leveldb-false-positives.md: the accident" {
  cd "$BATS_TEST_TMPDIR"
  seq 209712 | "$LANEBLOOM" build --format leveldb -o t.lbf
  rate=$("$LANEBLOOM" info --json --measure=10000000 t.lbf | jq '.measured_rate.rate * 100')
  shown=$(awk -F ' *[|] *' '$2 == "209,712" && $3 == 10 { print $6 }' \
    "$SOURCE_DIR/docs/leveldb-false-positives.md")
  jq -en --argjson rate "$rate" --argjson shown "$shown" \
    '$shown > 3.9 and $shown < 4 and ($rate / $shown - 1 | fabs) < 0.01'
}

@test "a cell of docs/choosing-a-filter.md, and its bits for a rate" {
  cd "$BATS_TEST_TMPDIR"
  seq 10000 | "$LANEBLOOM" build --expected 10000 -o t.lbf
  rate=$("$LANEBLOOM" info --json --measure=10000000 t.lbf | jq '.measured_rate.rate * 100')
  shown=$(awk -F ' *[|] *' '$2 == "10,000" { sub(/ .*/, "", $3); print $3 }' \
    "$SOURCE_DIR/docs/choosing-a-filter.md")
  jq -en --argjson rate "$rate" --argjson shown "$shown" '$rate / $shown - 1 | fabs < 0.01'
  awk -F ' *[|] *' '/^[|] rate [|] bits/ { on = 1 } on && $2 ~ /%$/ { print $2 / 100, $3 }' \
    "$SOURCE_DIR/docs/choosing-a-filter.md" >bits
  [ "$(wc -l <bits)" = 6 ]
  seq 1000000 >keys
  head -n 3 bits | while read -r rate shown; do
    "$LANEBLOOM" build --rate "$rate" --expected 1000000 -o t.lbf keys
    [ "$("$LANEBLOOM" info --json t.lbf | jq .bits_per_key)" = "$(jq -n "$shown")" ]
  done
}

@test "the examples at the top of README" {
  cd "$BATS_TEST_TMPDIR"
  awk '/^## / { exit } /^    /' "$SOURCE_DIR/README.md" | sed 's/^    //' >shown
  grep '^\$ ' shown | sed 's/^\$ //; s/ *#.*//' >commands
  [ "$(wc -l <commands)" = 3 ]
  sed "s|lanebloom |'$LANEBLOOM' |" commands | bash -e >found
  grep -v '^\$ ' shown >expected
  diff expected found
}

@test "the commands of SECURITY.md" {
  cd "$BATS_TEST_TMPDIR"
  sed -n 's/^      //p' "$SOURCE_DIR/SECURITY.md" >shown
  sed -n 's/^\$ //p' shown >commands
  [ "$(wc -l <commands)" = 4 ]
  sed "s|lanebloom |'$LANEBLOOM' |g" commands | bash -e >found
  grep -v '^\$ ' shown | diff - found
}

@test "docs/recipes.md, command by command" {
  cd "$BATS_TEST_TMPDIR"
  cp "$SOURCE_DIR/docs/recipes.md" recipes
  mkdir db
  cp "$SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10.sst" db/000010.sst
  if "$LANEBLOOM" hash --jsonl -f a /dev/null 2>&1 | grep -q 'without simdjson'; then
    echo "# without simdjson: JSON lines are left out" >&3
    sed -i '/^## JSON lines/,/^## /d' recipes
  fi
  if [[ $("$LANEBLOOM" --version) != *digests* ]]; then
    echo "# without Nettle: texts against a list of their hashes are left out" >&3
    sed -i '/^## Texts against/,/^## /d' recipes
  fi
  check_commands recipes 47
}

@test "docs/parquet.md, command by command, and its bits for a rate" {
  cd "$BATS_TEST_TMPDIR"
  mkdir data
  cp "$SOURCE_DIR"/tests/vectors/parquet/{arrow_rs,duckdb,parquet_mr,pyarrow}.parquet data
  sed -n '/^## The command/,$p' "$SOURCE_DIR/docs/parquet.md" >commands
  check_commands commands 6
  awk -F ' *[|] *' '/[|] bits per value/ { for (i = 3; i < NF; i++) bits[i] = $i }
    /[|] rate [|]/ { for (i = 3; i < NF; i++) print bits[i], $i }' \
    "$SOURCE_DIR/docs/parquet.md" >rates
  [ "$(wc -l <rates)" = 7 ]
  for bits in 8 16 32; do # filters are powers of two
    shown=$(awk -v bits=$bits '$1 == bits { print $2 }' rates)
    "$LANEBLOOM" plan --json --keys 1Mi --size $((bits << 17)) |
      jq -es --argjson shown "$shown" 'map(select(.format == "parquet"))[0] |
        .bits_per_key == '$bits' and (.model_rate * 100 / $shown - 1 | fabs) < 0.02'
  done
}

@test "one key and its neighbours in docs/leveldb-false-positives.md" {
  cd "$BATS_TEST_TMPDIR"
  echo key1 | "$LANEBLOOM" build --format leveldb -o k.lbf
  [ "$(seq -f key%g 0 9 | "$LANEBLOOM" screen -c k.lbf)" = 10 ]
}

@test "README has the verbs that the command has, and scripts that are there" {
  cd "$BATS_TEST_TMPDIR"
  awk '/^## / { on = /The command/ } on' "$SOURCE_DIR/README.md" |
    sed -n 's/^| `\([a-z]*\).*/\1/p' | sort -u >shown
  "$LANEBLOOM" --help | sed -n '/Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' | sort >found
  [ "$(wc -l <found)" -ge 7 ]
  diff shown found
  scripts=$(grep -oE '(scripts|bench)/[a-z-]+\.sh' "$SOURCE_DIR/README.md" | sort -u)
  for script in $scripts; do
    [ -x "$SOURCE_DIR/$script" ]
  done
}

@test "every file that a document names is there" {
  cd "$SOURCE_DIR"
  folders='docs|src|cli|include|tests|fuzz|bench|scripts|cmake|examples'
  paths=$(grep -oE "\`(($folders)/[^\` ]*|[a-z_*]+\.(c|h|bats|sh|md))\`" ./*.md docs/*.md |
    tr -d '\`' | grep -v NAME | sort -u)
  [ "$(echo "$paths" | wc -l)" -ge 80 ]
  echo "$paths" | while IFS=: read -r document path; do
    case $path in
      */*) found=$(compgen -G "$path") ;;
      *) found=$(find ${folders//|/ } -name "$path") ;;
    esac
    [ -n "$found" ] || { echo "$document: $path is not there"; exit 1; }
  done
}

@test "every instruction set is named where kernels are listed" {
  sets=$(awk '!/^#/ { print $1 }' "$SOURCE_DIR/tests/kernels/instruction_sets.txt")
  for set in $sets; do
    for document in README.md CHANGELOG.md docs/how-the-kernels-work.md; do
      grep -q "\`$set\`" "$SOURCE_DIR/$document" || {
        echo "$document: expected the kernel \`$set\`, found none" && return 1
      }
    done
  done
}

@test "figures of README and how-the-kernels-work are those of the result files that they name" {
  cd "$BATS_TEST_TMPDIR"
  cp "$SOURCE_DIR"/{README.md,docs/how-the-kernels-work.md} .
  "$SOURCE_DIR/bench/report/documents.py" README.md how-the-kernels-work.md
  cmp "$SOURCE_DIR/README.md" README.md
  cmp "$SOURCE_DIR/docs/how-the-kernels-work.md" how-the-kernels-work.md
  [ "$(cat ./*.md | grep -c '^<!-- figures: ')" = 3 ]
  # A figure that was changed is restored.
  sed -i 's/^\(| 256 KiB | `scalar` | \)[0-9.]*/\10.2/; s/[0-9]* million lines/99 million lines/' \
    README.md
  ! cmp -s "$SOURCE_DIR/README.md" README.md
  "$SOURCE_DIR/bench/report/documents.py" README.md
  cmp "$SOURCE_DIR/README.md" README.md
}

@test "documents give each number of a fact alike" {
  python3 "$SOURCE_DIR/tests/tree/facts.py" "$SOURCE_DIR"
}

@test "a number that documents give differently is found" {
  cd "$BATS_TEST_TMPDIR"
  cp -r "$SOURCE_DIR"/{*.md,bench,bindings,docs,include,src} .
  install -D -t tests/support "$SOURCE_DIR/tests/support/painted_stack.h"
  # Two clauses have nearly the same words; other clauses have the same number, or are no prose.
  printf '\nA sorted table of names takes 12 bytes per name.\n' >>README.md
  printf '\nA sorted table of all names takes 16 bytes per name.\n' >>docs/python.md
  printf '\nA sorted table of names takes 12 bytes.\n\n    a sorted table of names takes 9\n' \
    >>docs/reliability.md
  # Faults in the facts of FACTS: a document has another number, code has another number, and a text
  # is gone.
  sed -i 's/do so from 128 MiB/do so from 64 MiB/' docs/how-the-kernels-work.md
  sed -i 's/SPARK_MAX_NPROBES = 255/SPARK_MAX_NPROBES = 127/' src/layouts/double_hashing.h
  sed -i 's/plus 64 times the file/plus much more/' docs/database-files.md
  run python3 "$SOURCE_DIR/tests/tree/facts.py" .
  echo "$output"
  [ "$status" = 1 ]
  [[ $output == *"by partitions: expected one number, found 64 MiB in docs/how-the-kernels-work.md"*
     && $output == *"of a Spark filter: expected one number, found 255 in "*"127 in src/layouts"*
     && $output == *"in file sizes: expected a text like /plus (\\d+) times the file/, found none"*
     && $output == *"README.md and docs/python.md differ: 'A sorted table of names takes 12 "* ]]
  [ "${lines[-1]##*, }" = "5 faults" ]
}
