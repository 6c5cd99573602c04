# The filters and bounds of row groups: lanebloom tables lists them, and warnings name those that
# cannot be used.
# SPDX-License-Identifier: MIT
load helper
load parquet

# patch FILE OFFSET BYTES: writes the bytes at this offset of the file.
patch() {
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "a damaged filter: its row group may have every key" {
  make_folder
  offset=$(lanebloom tables --json events/a.parquet |
    jq 'select(.column == "text" and .row_group == 1).filter_offset')
  printf '\377' | dd of=events/a.parquet bs=1 seek="$offset" conv=notrunc status=none
  echo 'key 3' >keys
  run -2 --separate-stderr screen_events text --prune --row-groups
  [[ $output == $'events/a.parquet\t0\nevents/a.parquet\t1\nevents/day=1/b.parquet\t0'* ]]
  [[ $stderr == *"events/a.parquet: row group 1: "* ]]
  run -2 --separate-stderr lanebloom tables events/a.parquet
  [[ $stderr == *"row group 1: column text: "* ]]
}

@test "filters of another kind are like none, with a warning" {
  mkdir events
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  chmod u+w events/a.parquet
  offset=$(lanebloom tables --json events/a.parquet |
    jq 'select(.column == "text" and .row_group == 1).filter_offset')
  patch events/a.parquet $((offset + 2)) '\x2c' # leaves out the algorithm
  echo absent >keys
  run -0 --separate-stderr screen_events text --bounds=none
  [[ $output == absent ]]
  [[ $stderr == *"warning: 1 of 2 row groups have no filter of column text"* ]]
  run -0 --separate-stderr lanebloom tables events/a.parquet
  [[ $stderr == "lanebloom: events/a.parquet: warning: row group 1: column text: the filter's "* ]]
  [[ $stderr == *"expected 1 (split blocks), found 0" ]]
  awk '$2 == 1 && $3 == "text" { print $7 }' <<<"$output" | diff - <(echo -)
}

# A negative count of nulls counts as unknown, and does not affect the rest of the file.
@test "negative counts of nulls: the file is read" {
  for count in 01 03 09 ffffffffffffffffff01; do # -1, -2, -5, and the least number
    one_value 1 - "$(little 5 4)" $count >a.parquet
    lanebloom tables --bounds=all a.parquet 2>err >found
    holds err ''
    awk 'NR == 2 { print $6 }' found | diff - <(echo -)
    run -0 --separate-stderr lanebloom screen --parquet a.parquet --column k <(echo 5)
    [[ $output == 5 ]]
  done
}

@test "row groups without filters are counted, or refused" {
  mkdir events
  cp "$VECTORS"/{arrow_rs,pyarrow_without_filters}.parquet events
  echo 'key 7' >keys
  screen_events text --prune >names 2>err
  [[ $(<err) == *"warning: 2 of 4 row groups have no filter of column text that can be used: "* ]]
  [[ $(<err) == *"; the first is in events/pyarrow_without_filters.parquet" ]]
  [[ $(wc -l <names) == 2 ]]
  fails_with 'filters.parquet: expected a filter of column text in every row group' \
    screen_events text --prune --require-filters
}

# Bounds that are not used exclude no key.
@test "row groups without filters: the warning says whether bounds are used" {
  mkdir events
  without=$VECTORS/pyarrow_without_filters.parquet
  cp "$without" events/a.parquet
  echo 'key 7' >keys
  warns() { # TEXT
    lanebloom screen --parquet events --column text --prune "${@:2}" keys 2>err >names || true
    grep -qF "filter of column text that can be used: $1; the first is in events/a.parquet" err ||
      { cat err; return 1; }
  }
  warns 'every key within their bounds may be there'
  warns 'every key may be in 2 of them, whose bounds are missing or not used' --bounds=none
  LC_ALL=C sed 's/parquet-cpp-arrow/parquet-cpp-error/' "$without" >events/b.parquet
  warns 'every key may be in 2 of them, whose bounds are missing or not used'
  warns 'every key within their bounds may be there' --bounds=all
}

# The writer's name is changed, but no byte of the statistics.
@test "bounds of writers that are not known say nothing, unless they are asked for" {
  cp "$VECTORS/pyarrow_without_filters.parquet" known.parquet
  LC_ALL=C sed 's/parquet-cpp-arrow/parquet-cpp-error/' known.parquet >other.parquet
  seq 1 10 >keys # below all values
  absent() { # FILE OPTION...: prints how many keys are excluded
    lanebloom screen --parquet "$1" --column uint32 -v -c "${@:2}" keys 2>err || [[ $? == 1 ]]
  }
  [[ $(absent known.parquet) == 10 && $(absent known.parquet --bounds=none) == 0 ]]
  [[ $(absent other.parquet) == 0 && $(absent other.parquet --bounds=all) == 10 ]]
  bounds() { lanebloom tables --json "$@" | jq -r 'select(.column == "uint32").bounds' | uniq; }
  [[ $(bounds known.parquet) == used && $(bounds other.parquet) == writer-untried ]]
  [[ $(bounds --bounds=all other.parquet) == used ]]
  [[ $(bounds --bounds=none known.parquet) == not-asked-for ]]
  lanebloom tables other.parquet | awk '$3 == "uint32" { print $NF }' | uniq >word
  holds word 'writer-untried\n'
  refuses "--bounds: expected known, all or none, found 'some'" lanebloom tables --bounds=some x
  refuses "need --parquet" lanebloom screen --bounds=all filter keys
}

@test "tables: files and folders, in text and JSON" {
  make_folder
  lanebloom tables events >text
  [[ $(grep -c '^events/a.parquet ' text) -gt 20 && $(head -1 text) == "FILE GROUP COLUMN "* ]]
  ! grep -q '_temporary\|hidden' text
  lanebloom tables --no-header events | cmp - <(tail -n +2 text)
  lanebloom tables --json events/a.parquet |
    jq -e -s 'map(select(.column == "text"))[0] | .rows == 24 and .nulls == 0 and
      .filter_bytes == 32 and .type == "string" and .keys_estimate == 24'
  fails_with 'bloom10.ldb: expected Parquet files like events/a.parquet, found something else: ' \
    lanebloom tables events/a.parquet "$VECTORS/../tables/leveldb_bloom10.ldb"
  fails_with 'apply to databases' lanebloom tables --all-files events
}

@test "tables --summary: a line per column is the sum of its row groups" {
  mkdir events
  cp "$VECTORS"/{arrow_rs,duckdb,parquet_mr,pyarrow,pyarrow_without_filters}.parquet events
  lanebloom tables --json events | jq -cS -s 'group_by([.column, .type])[] | {column: .[0].column,
    type: .[0].type, files: (map(.file) | unique | length), row_groups: length,
    rows: (map(.rows) | add),
    nulls: (if any(.nulls == null) then null else (map(.nulls) | add) end),
    filters: (map(select(.filter_bytes)) | length), filter_bytes: (map(.filter_bytes) | add),
    keys_estimate: (map(.keys_estimate) | add),
    bounds: (map(.bounds) | unique - ["-"])}' >wanted
  lanebloom tables --summary --json events >found
  jq -cS -s 'sort_by([.column, .type])[] | .bounds |= sort |
    del(.bits_per_key, .model_rate)' found | diff wanted -
  jq -e -s 'all(if .filters == 0 then .bits_per_key == null and .model_rate == null
    elif .keys_estimate > 0 then .model_rate < 1 and
      (.bits_per_key - 8 * .filter_bytes / .keys_estimate | fabs) < 1e-9
    else .bits_per_key == null end)' found
  lanebloom tables --summary events >text
  [[ $(head -1 text) == "COLUMN "*" BOUNDS" && $(wc -l <text) -eq $(($(wc -l <found) + 1)) ]]
  lanebloom tables --summary --no-header events | cmp - <(tail -n +2 text)
  awk '$1 == "text" { print $3, $4, $7, $12 }' text | diff - <(echo 5 10 8 used)
  lanebloom tables --summary --bounds=none events | awk '$1 == "text" { print $12 }' >word
  holds word 'not-asked-for\n'
  fails_with 'expected Parquet files, which --summary adds up' lanebloom tables --summary \
    "$VECTORS/../tables/leveldb_bloom10.ldb"
}

@test "tables: damaged filters of a column have one message, with their number" {
  make_folder
  lanebloom tables --json events | jq -r 'select(.column == "text") | .file, .filter_offset' >rows
  while read -r file && read -r offset; do
    patch "$file" "$offset" '\xff'
  done <rows
  for option in --json --summary; do
    run -2 --separate-stderr lanebloom tables $option events
    [[ ${#stderr_lines[@]} -eq 1 ]]
    [[ $stderr == "lanebloom: events/a.parquet: row group 0: column text: "*" (and 3 more of "* ]]
  done
  awk '$1 == "text" { print $4, $7, $8 }' <<<"$output" | diff - <(echo 4 0 -)
}
