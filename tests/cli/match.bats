# match: exact, what grep -Fxf, awk and sort say.
# SPDX-License-Identifier: MIT
load helper

# some_lines SEED N: short lines, many of them equal.
some_lines() {
  awk -v seed="$1" -v n="$2" 'BEGIN { srand(seed); while (n-- > 0) print int(rand() * 30000) }'
}

@test "match and match -v are grep -Fxf and grep -vFxf" {
  some_lines 1 20000 >keys
  some_lines 2 50000 >input
  for jobs in 1 3; do
    lanebloom match -j $jobs keys input | cmp - <(grep -Fxf keys input)
    lanebloom match -j $jobs -v keys input | cmp - <(grep -vFxf keys input)
  done
  [[ $(lanebloom match -c keys input) -eq $(grep -cFxf keys input) ]]
  lanebloom match -n keys input | cmp - <(grep -nFxf keys input)
  lanebloom match -q keys input
  run -1 lanebloom match keys <(seq 40000 40010)
  [[ -z $output ]]
}

@test "empty keys, keys that repeat, a last key without a newline" {
  printf 'a\n\na\nb' >keys
  printf 'b\n\nab\na\nc' | lanebloom match keys >output
  holds output 'b\n\na\n'
  printf 'b\n\nab\na\nc' | lanebloom match -v keys >output
  holds output 'ab\nc\n'
  : >none
  run -1 lanebloom match none keys
  [[ -z $output ]]
  lanebloom match -v none keys >output
  holds output 'a\n\na\nb\n'
}

@test "keys from a pipe, and from standard input" {
  some_lines 3 20000 >keys
  some_lines 4 20000 >input
  lanebloom match <(cat keys) input | cmp - <(grep -Fxf keys input)
  lanebloom match - input <keys | cmp - <(grep -Fxf keys input)
  cat keys | lanebloom match - input | cmp - <(grep -Fxf keys input)
  lanebloom match keys <input | cmp - <(grep -Fxf keys input)
  refuses "KEYS and INPUT cannot both be standard input" lanebloom match -
  refuses "KEYS and INPUT cannot both be standard input" lanebloom match - input -
  refuses "expected KEYS" lanebloom match
}

@test "fields are those of INPUT; keys with quotes and line ends are not lines of KEYS" {
  printf 'bob\na,b\nx\ny\n' >keys
  printf 'id,name\n1,bob\n2,"a,b"\n3,"x\ny"\n4,"bob "\n' >rows.csv
  lanebloom match --csv -f name keys rows.csv >output
  holds output 'id,name\n1,bob\n2,"a,b"\n'
  lanebloom match --csv -f name -v keys rows.csv >output
  holds output 'id,name\n3,"x\ny"\n4,"bob "\n'
  printf '1\tbob\n2\tcarol\n3\n' >rows.tsv
  lanebloom match -f 2 --missing=keep keys rows.tsv >output
  holds output '1\tbob\n3\n'
}

@test "NUL-terminated records, Windows lines, binary keys" {
  printf 'a\nb\0c\0' >keys
  printf 'c\0a\0a\nb\0' | lanebloom match -z keys | cmp - <(printf 'c\0a\nb\0')
  printf 'a\r\nb' >keys
  printf 'b\r\na\nc\n' | lanebloom match --crlf keys | cmp - <(printf 'b\r\na\n')
  head -c 16000 /dev/urandom >keys
  { head -c 1600 /dev/urandom; head -c 8000 keys | tail -c 800; } >input
  lanebloom match --width 16 keys input | cmp - <(tail -c 800 input)
  fails_with "expected records of 16 bytes, found 3 bytes after the last one" \
    lanebloom match --width 16 <(head -c 19 keys) input
}

@test "a set of a million keys in many batches, every one of them found" {
  numbers 1 1000000 >keys
  [[ $(lanebloom match -c keys keys) -eq 1000000 ]]
  run -1 lanebloom match -c keys <(numbers 1000001 1300000)
  [[ $output == 0 ]]
}

@test "KEYS that cannot be read, or are no keys, are an error before any input is read" {
  numbers 1 100 >keys
  lanebloom build -o filter keys
  fails_with "nowhere: No such file or directory" without_input "$LANEBLOOM" match nowhere
  fails_with ".: Is a directory" without_input "$LANEBLOOM" match .
  fails_with "filter: expected records, found a lanebloom container: \`match' compares keys" \
    without_input "$LANEBLOOM" match filter
  printf '\3757zXZ\0 and blocks' >keys.xz
  fails_with "keys.xz: expected records, found xz data" without_input "$LANEBLOOM" match keys.xz
}

@test "a table that memory cannot hold is an error before any input is read" {
  address_space_can_be_limited || skip "address space cannot be limited here"
  yes '' | head -n 30000000 >keys
  run -2 --separate-stderr bash -c "ulimit -v 150000; exec timeout 5 '$LANEBLOOM' match -j 1 keys"
  is_message "out of memory: 30000000 keys need about 3.98e+08 bytes"
}

@test "keys that become fewer meanwhile: an error, no wrong answer" {
  numbers 1 100000 >keys
  mkfifo input
  "$LANEBLOOM" match keys input >output 2>errors &
  exec 7>input # the keys were read before
  : >keys
  numbers 1 100 >&7
  exec 7>&-
  status=0
  wait $! || status=$?
  [[ $status -ne 0 && ! -s output ]]
  says_where_pages_are_lost || return 0
  [[ $status -eq 2 && $(<errors) == *"keys: truncated: the file became shorter"* ]]
}
