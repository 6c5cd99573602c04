# lanebloom screen.
# SPDX-License-Identifier: MIT
load helper

# Makes a filter of the odd numbers below 20000, and all numbers as rows.
make_filter() {
  numbers 1 20000 >rows
  sed -n 'p;n' rows >odd
  lanebloom build "$@" -o filter odd
}

@test "--filters-from: filters that a file names" {
  for i in 1 2 3; do
    lanebloom build -o "f $i.lbf" <<<$i
  done
  printf '%s\n' f*.lbf >list
  lanebloom screen --filters-from list --which - <<<2 | grep -qx $'f 2.lbf\t2'
  [[ $(seq 4 | lanebloom screen --filters-from list -c) == 3 ]]
  printf 'f 2.lbf\nf 3.lbf' >list # the last line may lack its line end
  seq 4 >input
  [[ $(lanebloom screen --filter 'f 1.lbf' --filters-from - -c input <list) == 3 ]]
  fails_with "f 2.lbf: expected each filter once, found it twice" \
    lanebloom screen --filter 'f 2.lbf' --filters-from list input
  : >empty
  fails_with "empty: expected the names of filters, found an empty file" \
    lanebloom screen --filters-from empty input
  fails_with "expected the name of a filter in each line" \
    lanebloom screen --filters-from <(printf 'f 1.lbf\n\n') input
  fails_with "nowhere: No such file" lanebloom screen --filters-from nowhere input
  fails_with ".: Is a directory" lanebloom screen --filters-from . input
  refuses "cannot both be standard input" lanebloom screen --filters-from -
  refuses "give only one of --filter, --filters-from and --db" \
    lanebloom screen --filters-from list --db . input
}

@test "selects every key; -v is the exact complement, in order" {
  make_filter
  lanebloom screen filter odd | cmp - odd
  lanebloom screen filter rows >hits
  lanebloom screen -v filter rows >misses
  [[ $(wc -l <misses) -gt 9000 ]]
  sort -m hits misses | cmp - rows
  comm -23 odd hits | cmp - /dev/null
  sort -c hits
  sort -c misses
}

@test "patterns of neighbours: subsets of 12 records" {
  local step=$(exhaustive && echo 37 || echo 407)
  printf '%s\n' a b c d e f g h i j k l >letters
  for subset in $(seq 1 $step 4095); do
    : >keys
    for i in {0..11}; do
      ((subset >> i & 1)) && sed -n "$((i + 1))p" letters >>keys
    done
    lanebloom build --bits 100 -o filter keys
    lanebloom screen filter letters | cmp - keys
  done
}

@test "exit status: 0 selected, 1 none" {
  make_filter --bits 40
  run -0 lanebloom screen -q filter odd
  run -1 lanebloom screen -v filter odd
  run -1 lanebloom screen filter /dev/null
  [[ -z $output ]]
  run -1 lanebloom screen -c filter /dev/null
  [[ $output == 0 ]]
  run -1 lanebloom screen -qv filter odd
  run -1 lanebloom screen filter <(echo absent)
}

@test "-c counts over all inputs, -v too" {
  make_filter
  hits=$(lanebloom screen filter rows | wc -l)
  [[ $(lanebloom screen -c filter rows) == "$hits" ]]
  [[ $(lanebloom screen -c filter rows rows - <rows) == $((3 * hits)) ]]
  [[ $(lanebloom screen -vc filter rows) == $((20000 - hits)) ]]
  [[ $(lanebloom screen -cn filter rows) == "$hits" ]]
}

@test "-n numbers records over all inputs from 1" {
  make_filter --bits 40
  lanebloom screen -n filter rows - <rows >numbered
  cat rows rows | grep -n '' | sed -n 'p;n' | cmp - numbered
  lanebloom screen -nv filter rows >numbered
  grep -n '' rows | sed -n 'n;p' | cmp - numbered
}

@test "-q is silent and stops at once" {
  make_filter
  run -0 --separate-stderr lanebloom screen -q filter odd
  [[ -z $output && -z $stderr ]]
  yes key-00000001 | timeout 5 "$LANEBLOOM" screen -q filter
  run -0 --separate-stderr lanebloom screen -qcn filter odd
  [[ -z $output ]]
}

@test "inputs: files in order, -, none" {
  make_filter --bits 40
  head -n 10 odd >a
  tail -n 10 odd >b
  lanebloom screen filter b a | cmp - <(cat b a)
  lanebloom screen filter b - <a | cmp - <(cat b a)
  lanebloom screen filter - b <a | cmp - <(cat a b)
  lanebloom screen filter <a | cmp - a
  cat a | lanebloom screen filter | cmp - a
}

@test "a name that begins with a dash, after --" {
  make_filter
  cp odd ./-v
  lanebloom screen -- filter -v | cmp - odd
}

@test "the filter from standard input, records from a file" {
  make_filter
  lanebloom screen filter rows >expected
  lanebloom screen - rows <filter | cmp - expected
  cat filter | lanebloom screen - rows | cmp - expected
  cat filter | lanebloom screen /dev/stdin rows | cmp - expected
}

@test "filter and records cannot both be standard input" {
  make_filter
  refuses "both be standard input" lanebloom screen - <filter
  refuses "both be standard input" lanebloom screen - rows - <filter
  refuses "both be standard input" lanebloom screen /dev/stdin - <filter
  refuses "expected a FILTER, --db PATH or --parquet PATH, found none" lanebloom screen
}

@test "options of raw filters go together" {
  make_filter
  refuses "give both --raw and --format" lanebloom screen --raw filter rows
  refuses "give both --raw and --format" lanebloom screen --format leveldb filter rows
  refuses ", found 'none'" lanebloom screen --raw --format none filter rows
}

@test "filters that are none" {
  numbers 1 100 >keys
  fails_with "missing: No such file or directory" lanebloom screen missing keys
  fails_with ".: Is a directory" lanebloom screen . keys
  fails_with "keys: not a lanebloom container" lanebloom screen keys keys
  fails_with "/dev/null: not a lanebloom container" lanebloom screen /dev/null keys
  fails_with "(standard input): not a lanebloom container" lanebloom screen - keys <keys
  fails_with "missing: No such file or directory" \
    lanebloom screen --raw --format leveldb missing keys
  fails_with ".: Is a directory" lanebloom screen --raw --format leveldb . keys
  lanebloom build -o filter keys
  head -c -1 filter >cut
  fails_with "cut: truncated" lanebloom screen cut keys
  { head -c 100 filter; printf '\252'; tail -c +102 filter; } >damaged
  fails_with "damaged: damaged" lanebloom screen damaged keys
}

@test "after an input error the others are read; the status is 2" {
  make_filter --bits 40
  for bad in missing . /proc/self/mem; do
    run -2 --separate-stderr lanebloom screen filter $bad odd
    [[ $output == "$(<odd)" && $stderr == "lanebloom: $bad: "* && ${#stderr_lines[@]} -eq 1 ]]
    run -2 --separate-stderr lanebloom screen -c filter odd $bad
    [[ $output == 10000 ]]
  done
}

@test "-c prints no count unless an input was read to its end" {
  make_filter --bits 40
  printf '\3757zXZ\0 and blocks' >odd.xz
  database=$SOURCE_DIR/tests/vectors/tables/leveldb_bloom10.ldb
  for bad in missing . /proc/self/mem odd.xz; do
    for from in filter "--db $database" "--db $database --which"; do
      fails_with "$bad: " lanebloom screen -c $from $bad
      run -2 --separate-stderr lanebloom screen -c $from $bad $bad
      [[ -z $output && ${#stderr_lines[@]} -eq 2 ]]
    done
    run -2 --separate-stderr lanebloom screen -c filter $bad odd $bad
    [[ $output == 10000 && ${#stderr_lines[@]} -eq 2 ]]
    run -2 --separate-stderr lanebloom screen -c filter $bad /dev/null
    [[ $output == 0 && ${#stderr_lines[@]} -eq 1 ]]
  done
  fails_with "of 7 bytes" lanebloom screen -c --width 7 filter odd
  fails_with "(standard input): expected records" lanebloom screen -c filter - <filter
}

@test "-q after an input error: 0 with a match, 2 without" {
  make_filter --bits 40
  run -0 --separate-stderr lanebloom screen -q filter missing odd
  [[ $stderr == "lanebloom: missing: "* ]]
  run -2 --separate-stderr lanebloom screen -q filter missing <(echo absent)
}

@test "an input that is the output is refused, the others are read" {
  make_filter --bits 40
  cp odd both
  run -2 --separate-stderr bash -c "timeout 5 '$LANEBLOOM' screen filter both odd >>both"
  is_message "both: input file is also the output"
  cat odd odd | cmp - both
  run -2 --separate-stderr bash -c "timeout 5 '$LANEBLOOM' screen filter <both >>both"
  is_message "(standard input): input file is also the output"
  lanebloom screen filter /dev/null odd >/dev/null
  cp odd both
  # these commands print no record, so the output may be an input
  bash -c "'$LANEBLOOM' screen -c filter both >>both && '$LANEBLOOM' screen -q filter both >>both"
}

@test "matches show at once while the input stays open" {
  make_filter
  mkfifo in out
  "$LANEBLOOM" screen filter <in >out 3>&- &
  exec 5>in 6<out
  for key in key-00000001 key-00000003; do
    echo $key >&5
    read -r -t 5 line <&6
    [[ $line == "$key" ]]
  done
  printf 'key-0000' >&5
  sleep 0.05
  printf '0005\n' >&5
  read -r -t 5 line <&6
  [[ $line == key-00000005 ]]
  exec 5>&- 6<&-
  wait $!
}

@test "a filter that lets every key pass is warned of" {
  printf 'no filter' >bytes
  run -0 --separate-stderr lanebloom screen -c --raw --format leveldb bytes <<<key
  [[ $output == 1 && $stderr == "lanebloom: bytes: warning: every key passes this filter" ]]
}

@test "filters without keys are warned of, once, unless another has keys" {
  numbers 1 2000 >keys
  lanebloom build -o filter keys
  for options in "" "--expected 1M" "--format leveldb" "--format leveldb --expected 100" \
    "--format rocksdb-legacy --expected 1" "--format parquet" "--format spark-v1" \
    "--format spark-v2 --expected 1000" "--format dcso" "--format dcso --expected 9"; do
    lanebloom build $options -o none --force </dev/null
    for how in "" "-c" "-j 3"; do
      run -1 --separate-stderr lanebloom screen $how none keys
      [[ $stderr == "lanebloom: none: warning: this filter has no keys: no key passes" ]]
    done
    run -0 --separate-stderr lanebloom screen -v none keys
    [[ $stderr == "lanebloom: none: warning: this filter has no keys: no key passes" ]]
    ! [[ $options == *expected* ]] || ! echo one | lanebloom add none ||
      [[ $(lanebloom screen -c none <<<one 2>&1) == 1 ]] # one key is enough
  done
  lanebloom build -o none --force </dev/null
  lanebloom build --expected 5 -o room </dev/null
  run -1 --separate-stderr lanebloom screen --filter none --filter room keys
  is_message "warning: none of the 2 filters has keys: no key passes"
  run -0 --separate-stderr lanebloom screen -c --filter none --filter room --filter filter keys
  [[ -z $stderr ]]
  lanebloom build --raw --format leveldb --expected 9 -o raw </dev/null
  run -1 --separate-stderr lanebloom screen --raw --format leveldb raw keys
  is_message "raw: warning: this filter has no keys"
}

@test "FILTER and INPUT in the wrong order: the message has the right one" {
  make_filter
  for inputs in filter "odd filter"; do
    fails_with "rows: not a lanebloom container: expected it to start with" \
      lanebloom screen -c rows $inputs
    [[ $stderr == *", found 6b 65 79 "*"; filter is one, and FILTER comes first: "* &&
      $stderr == *": lanebloom screen filter rows" ]]
  done
  mv filter $'a\nb'
  fails_with ': lanebloom screen a\012b -' lanebloom screen - $'a\nb' <rows
  mkfifo quiet
  fails_with "; \`lanebloom match' takes a file of keys" \
    timeout 5 "$LANEBLOOM" screen rows quiet missing
}

@test "a database's folder or table that is taken for a filter: the message knows --db" {
  table=$BATS_TEST_DIRNAME/../vectors/tables/leveldb_bloom10.ldb
  fails_with '`screen --db'"'"' queries the tables of a database' lanebloom screen \
    "$(dirname "$table")" <<<key
  fails_with '`screen --db'"'"' queries it' lanebloom screen "$table" <<<key
}

@test "-m N stops after N selected records, whatever else is asked" {
  numbers 1 300000 >keys
  lanebloom build -o filter keys
  for n in 1 7 2048 2049 150000 300000; do
    for jobs in 1 3; do
      lanebloom screen -j $jobs -m $n filter keys | cmp - <(head -n $n keys)
      [[ $(lanebloom screen -j $jobs -c -m $n filter keys) -eq $n ]]
    done
    lanebloom screen -n -m $n filter keys | cmp - <(grep -n '' keys | head -n $n)
    lanebloom match -m $n keys keys | cmp - <(head -n $n keys)
  done
  lanebloom screen -m 1M filter keys | cmp - keys
  [[ $(lanebloom screen -c -m 1M filter keys) -eq 300000 ]]
  yes key-00000007 | timeout 5 "$LANEBLOOM" screen -m 3 filter >three
  holds three 'key-00000007\nkey-00000007\nkey-00000007\n'
  printf '"a\n",1\n"b\n",2\n"c\n",3\n' >rows
  seq 1 3 | lanebloom build -o numbers.lbf
  lanebloom screen --csv --no-header -f 2 -m 2 numbers.lbf rows | cmp - <(head -n 4 rows)
  lanebloom screen --width 13 -m 2 <(lanebloom build --width 13 -o /dev/stdout keys) keys |
    cmp - <(head -n 2 keys)
  run -2 lanebloom screen -m 1 filter missing keys
  [[ ${lines[1]} == key-00000001 ]]
  local tables="--db $SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10.sst"
  lanebloom screen $tables --which <(numbers 1 300000) >all
  [[ $(wc -l <all) -gt 100 ]]
  lanebloom screen $tables --which -m 100 <(numbers 1 300000) | cmp - <(head -n 100 all)
  refuses "only one of --max-count and --which with --count" \
    lanebloom screen $tables --which -c -m 1
  refuses "--max-count: expected a whole number" lanebloom screen -m 0 filter
}
