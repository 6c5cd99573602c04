# lanebloom merge: unions, filters that cannot be merged, files that change meanwhile.
# SPDX-License-Identifier: MIT
load helper

# make_filters OPTION...: makes the filter a of keys-a, the filter b of keys-b, and the filter all
# of both.
make_filters() {
  numbers 1 1000 >keys-a
  numbers 5001 7000 >keys-b
  lanebloom build --expected 3k "$@" -o a keys-a
  lanebloom build --expected 3k "$@" -o b keys-b
  lanebloom build --expected 3k "$@" -o all keys-a keys-b
}

@test "the union is the filter of all keys, in every format" {
  for format in leveldb leveldb-signed rocksdb-legacy rocksdb-local; do
    make_filters --format $format
    run -0 --separate-stderr lanebloom merge -o union a b
    [[ -z $output && -z $stderr ]]
    cmp all union
  done
}

@test "one filter, the same filter twice, the target among them" {
  make_filters
  lanebloom merge -o copy a
  cmp a copy
  lanebloom merge -o twice a a b a
  cmp <(tail -c +65 all) <(tail -c +65 twice) # the header holds the number of keys, which is a sum
  [[ $(lanebloom info --json twice | jq .keys) == 5000 ]]
  lanebloom merge -o a a b
  cmp all a
}

@test "one filter that replaces another: a warning that they are not merged" {
  make_filters
  lanebloom build --format leveldb -o other keys-a
  : | lanebloom build --expected 3k -o none
  for target in a other all; do
    cp $target target
    run -0 --separate-stderr lanebloom merge -o target b
    is_message "target: warning: a copy of b replaces this filter and is not merged with it: "
    cmp target b
  done
  cp a target
  run -0 --separate-stderr lanebloom merge -o target - <b
  is_message "target: warning: a copy of (standard input) replaces this filter"
  cp a target
  for command in "-o target target" "-o target target b" "-o new b" "-o new b" "-o none b" \
    "-o target all b" "--force -o target a"; do
    run -0 --separate-stderr lanebloom merge $command
    [[ -z $stderr ]] || { echo "$command: $stderr"; false; }
  done
}

@test "standard input, standard output, pipes" {
  make_filters
  lanebloom merge -o - a - <b | cmp all
  lanebloom merge -o union <(cat a) <(cat b)
  cmp all union
  lanebloom merge -o /dev/stdout /dev/stdin a <b | cmp all
  cp a both
  fails_with "both: input file is also the output" bash -c "'$LANEBLOOM' merge -o - b both >>both"
  cmp a both
}

@test "a thousand filters, with few descriptors" {
  numbers 1 1000 >keys
  mkdir parts
  split -l 1 -a 4 keys parts/
  cd parts
  lanebloom build --expected 1k -o ../all ../keys
  lanebloom build --expected 1k -o ../first aaaa
  local names=(*)
  for name in "${names[@]:0:20}"; do
    lanebloom build --expected 1k -o $name.lbf $name
  done
  for ((i = 20; i < 1000; i++)); do
    cp aaaa.lbf ${names[i]}.lbf
  done
  (ulimit -n 24 && lanebloom merge -o ../union ./*.lbf)
  [[ $(lanebloom info --json ../union | jq .keys) == 1000 ]]
  [[ $(lanebloom screen -c ../union <(head -n 20 ../keys)) == 20 ]]
}

@test "filters that do not fit: both are named, and nothing is written" {
  make_filters
  lanebloom build --expected 6k -o large keys-b
  lanebloom build --expected 3k --format leveldb -o other keys-b
  : | lanebloom build -o few --format rocksdb-legacy --bits 10 --expected 100
  : | lanebloom build -o probes --format rocksdb-legacy --bits 11 --expected 91
  [[ $(stat -c %s few) == "$(stat -c %s probes)" ]]
  : | lanebloom build -o empty
  echo old >target
  size=$(($(stat -c %s a) - 64)) larger=$(($(stat -c %s large) - 64))
  fails_with "large: expected $size bytes, found $larger; a filter merges with a if both were" \
    lanebloom merge --force -o target a b large other
  fails_with "other: expected the format rocksdb-local, found leveldb; a filter merges with a if" \
    lanebloom merge --force -o target a b other large
  fails_with "probes: expected 6 probes per key, found 7; a filter merges with few if" \
    lanebloom merge --force -o target few few probes
  fails_with "empty: expected $size bytes, found 5; a filter merges with a if" \
    lanebloom merge --force -o target a empty
  lanebloom build --expected 3k --upper -o upper keys-b
  fails_with "found 'bytes, upper-cased'; a filter merges with a if both were built with one \
--expected N, and with the same --format, --bits, -f, --decode, --digest, --lower, --upper and \
--trim" lanebloom merge --force -o target a upper
  holds target 'old\n'
}

@test "filters that cannot be read are all named, and nothing is written" {
  make_filters
  head -c 1000 a >short
  cp b damaged
  printf x | dd of=damaged bs=1 seek=500 conv=notrunc status=none
  echo old >target
  run -2 --separate-stderr lanebloom merge --force -o target a short missing keys-a damaged . b
  [[ -z $output && ${#stderr_lines[@]} -eq 5 ]]
  [[ ${stderr_lines[0]} == "lanebloom: short: truncated: expected a payload of "*", found 936" ]]
  [[ ${stderr_lines[1]} == "lanebloom: missing: No such file or directory" ]]
  [[ ${stderr_lines[2]} == "lanebloom: keys-a: not a lanebloom container: "* ]]
  [[ ${stderr_lines[3]} == "lanebloom: damaged: damaged: expected checksum "*", found "* ]]
  [[ ${stderr_lines[4]} == "lanebloom: .: Is a directory; "* ]]
  holds target 'old\n'
  fails_with "(standard input): not a lanebloom container" \
    lanebloom merge --force -o target - </dev/null
}

@test "no target, no filter, a target that cannot be written" {
  make_filters
  refuses "expected -o FILE" lanebloom merge a b
  refuses "expected a FILTER, found none" lanebloom merge --force -o target
  fails_with "missing/target: No such file or directory" lanebloom merge -o missing/target a b
  run -2 --separate-stderr lanebloom merge -o /dev/full a b
  is_message "/dev/full: No space left on device"
}

# The other filter comes from a pipe, after the first was read.
merge_meanwhile() { # COMMAND...: changes the file `a` meanwhile
  mkfifo late
  echo old >target
  "$LANEBLOOM" merge --force -o target a late 2>errors &
  exec 9>late # opens after a was read
  "$@"
  cat b >&9
  exec 9>&-
  status=0
  wait $! || status=$?
  rm late
  holds target 'old\n'
  [[ $status -eq 2 && $(wc -l <errors) -eq 1 ]]
}

@test "a target that is replaced meanwhile is left as it is" {
  numbers 1 10 | lanebloom build --expected 100 -o a
  numbers 11 20 | lanebloom build --expected 100 -o b
  mkfifo late
  "$LANEBLOOM" merge -o a a late 2>errors &
  exec 9>late # opens after a was locked and read
  cp b new
  mv new a
  cat b >&9
  exec 9>&-
  status=0
  wait $! || status=$?
  cmp a b
  [[ $status -eq 2 ]]
  [[ $(<errors) == *"a: the filter was replaced while it was merged; "*": merge again" ]]
}

@test "a file that changes, or becomes shorter, while it is read" {
  numbers 1 10 >keys
  lanebloom build --expected 1M -o a keys
  cp a b
  cp a kept
  merge_meanwhile dd if=/dev/zero of=a bs=1000 seek=1 count=1000 conv=notrunc status=none
  [[ $(<errors) == "lanebloom: a: the file was changed while it was read; merge again" ]]
  cp kept a
  says_where_pages_are_lost || return 0
  merge_meanwhile truncate -s 70000 a
  [[ $(<errors) == "lanebloom: a: truncated: the file became shorter while it was read" ]]
  [[ $(ls -A) == "$(ls -A | grep -v lanebloom)" ]]
}
