# Filters of Apache Hudi: bare ones, as records and as Base64, and those in the footers of Parquet
# files. tests/vectors/README.md says who made them.
# SPDX-License-Identifier: MIT
load helper

HUDI=$BATS_TEST_DIRNAME/../vectors/hudi
TEXT=/////wAAAAcBAAAAYHRq2pIPJXbnOeZn5Q== # has the key 2, and neither 20 nor 200

# Makes a folder `table' with a file of each kind of filter.
make_table() {
  mkdir table
  cp "$HUDI"/{simple,rows}.parquet table
  chmod -R u+w table
}

@test "a filter as Base64 and as a record, from a file, a pipe and a container" {
  echo "$TEXT" >text
  printf %s "$TEXT" | base64 -d >record
  seq 2000 >keys
  lanebloom screen --raw --format hudi record keys >expected 2>err
  [[ $(wc -l <expected) -lt 100 && $(head -n 1 expected) == 2 ]]
  for kernel in $(lanebloom kernels --json | jq -r '.kernels[]'); do
    LANEBLOOM_KERNEL=$kernel lanebloom screen --raw --format hudi text keys 2>err | diff expected -
  done
  lanebloom screen --raw --format hudi <(printf '%s\r\n' "$TEXT") keys 2>err | diff expected -
  lanebloom info --raw --format hudi --json text |
    jq -e '.format == "hudi" and .filter_bytes == 25 and .probes == 7 and .bits_set == 53'
  run -2 --separate-stderr lanebloom screen --raw --format hudi <(echo "${TEXT%??}") keys
  [[ $stderr == *"Hudi in Base64"* ]]
}

@test "hudi can neither be built nor hashed nor merged" {
  printf %s "$TEXT" | base64 -d >record
  run -2 --separate-stderr lanebloom build --format hudi -o a.lbf record
  [[ $stderr == *"found 'hudi', which can only be read"* ]]
  run -2 --separate-stderr lanebloom hash --format hudi record
  [[ $stderr == *"found 'hudi', which can only be read"* ]]
}

# The key of the last line is not in simple.parquet, whose filter has four times as many keys as it
# was planned for.
@test "record keys of files: every key is found in its file" {
  make_table
  printf '%s\n' DxAaqa gFDy 500E absent1 absent3 'ké65' >keys
  lanebloom screen --parquet table --hudi --which keys >found
  diff - found <<END
table/rows.parquet	0	DxAaqa
table/rows.parquet	0	gFDy
table/rows.parquet	0	ké65
table/simple.parquet	0	DxAaqa
table/simple.parquet	0	500E
table/simple.parquet	0	ké65
END
  lanebloom screen --parquet table --column _hoodie_record_key --which keys | diff found -
  lanebloom screen --parquet table --hudi -v keys | diff - <(printf '%s\n' absent1 absent3)
  lanebloom screen --parquet table --hudi --prune --require-filters <(echo 500E) |
    diff - <(echo table/simple.parquet)
  lanebloom screen --parquet table --hudi -j 4 --summary=json keys 2>summary >passed
  [[ $(wc -l <passed) == 4 ]]
}

@test "a file without a filter, or with another one, may have every key; this is said" {
  make_table
  printf '%s\n' absent1 500E >keys
  sed 's/org.apache.hudi.bloomfilter/org.apache.hudi.bloomfiltex/' "$HUDI/simple.parquet" \
    >table/simple.parquet
  lanebloom screen --parquet table --hudi keys >found 2>err
  # the range of record keys still rules out keys
  diff keys found
  [[ $(<err) == *"warning: 1 of 2 row groups have no filter of column _hoodie_record_key that "* ]]
  run -2 --separate-stderr lanebloom screen --parquet table --hudi --require-filters keys
  [[ $stderr == *"table/simple.parquet: expected a filter of column _hoodie_record_key"* ]]
  sed 's/DYNAMIC_V0/DYNAMIC_V1/' "$HUDI/rows.parquet" >table/rows.parquet
  lanebloom screen --parquet table --hudi keys 2>err | diff keys -
  [[ $(<err) == *"warning: 2 of 2 row groups have no filter"* ]]
}

@test "a filter with too many probes is like none, and the range is used" {
  make_table
  rm table/rows.parquet
  sed 's,/////wAAAA,/////wAAAQ,' "$HUDI/simple.parquet" >table/simple.parquet
  printf '%s\n' '!below' absent1 500E '~above' >keys
  run -0 --separate-stderr lanebloom screen --parquet table --hudi keys
  [[ $output == absent1$'\n'500E ]]
  [[ $stderr == *"warning: 1 of 1 row groups have no filter of column _hoodie_record_key that "* ]]
  fails_with "table/simple.parquet: expected a filter of column _hoodie_record_key" \
    lanebloom screen --parquet table --hudi --require-filters keys
}

@test "other columns do not use the filter, and --hudi is for one column" {
  make_table
  lanebloom screen --parquet table --column row --bounds=none <(seq 3) 2>err | diff - <(seq 3)
  [[ $(<err) == *"2 of 2 row groups have no filter of column row"* ]]
  run -2 --separate-stderr lanebloom screen --parquet table --hudi --column row /dev/null
  [[ $stderr == *"--hudi: expected no --column, or --column _hoodie_record_key, found 'row'"* ]]
  run -2 --separate-stderr lanebloom screen --hudi /dev/null
  [[ $stderr == *"--hudi"*"need --parquet PATH"* ]]
  run -2 --separate-stderr lanebloom screen --parquet "$HUDI/../parquet" --hudi /dev/null
  [[ $stderr == *'expected one column "_hoodie_record_key", found none'* ]]
}
