# -b: the key consists of ranges of the bytes of a record.
# SPDX-License-Identifier: MIT
load helper

# same_as_cut RANGE [OPTION...]: checks that the keys of the file `input' are what cut prints
same_as_cut() {
  local range=$1
  shift
  diff <(hashes -b "$range" "$@" <input) <(cut -b "$range" input | hashes)
}

@test "one range is what cut -b prints" {
  for n in {1..3000}; do printf '%0*d\n' $((n % 37 + 5)) $n; done >input
  for range in 1 5 1-5 2-3 3- -4 -100 4-100 1-4294967295 1-; do
    same_as_cut $range
  done
  numbers 1 5000 >input # lines of one size
  for range in 1 5-12 12 5- -100; do
    same_as_cut $range
    lanebloom build -j 2 -b $range -o keys.lbf input
    lanebloom screen -j 2 -b $range keys.lbf input | cmp - input
  done
  printf '\357\273\277abc\nabc\n' | hashes -b 1-2 | uniq | wc -l | grep -qx 1 # without the BOM
}

@test "several ranges are joined by tabs, in the order that was given" {
  printf '0123456789\nabcdefghij\n' >input
  diff <(hashes -b 9-,1-2,5 input) <(printf '89\t01\t4\nij\tab\te\n' | hashes)
  diff <(hashes -b 3 -b 1 input) <(printf '2\t0\nc\ta\n' | hashes)
  diff <(printf 'abc\n\n' | hashes --missing=drop -b 1,2,3 2>errors) <(printf 'a\tb\tc\n' | hashes)
  printf 'abcdef' | hashes --width 3 -b 1,2,3 | diff - <(printf 'a\tb\tc\nd\te\tf\n' | hashes)
  printf ' a bc \n' >input
  diff <(hashes --trim -b 1-3,4- input) <(printf 'a\tbc\n' | hashes)
  diff <(hashes --trim --upper -b 1-3 input) <(printf 'A\n' | hashes)
  lanebloom build -b 1-2,4 -o joined.lbf <<<abcd
  [[ $(lanebloom info joined.lbf) == *"key form: bytes, fields joined by a tab" ]]
  [[ $(lanebloom screen -c -f 2,3 joined.lbf <<<$'x\tab\td') -eq 1 ]]
}

@test "records of fixed width, NUL-terminated strings, CR LF, decoding" {
  printf 'xx00ff--xx1234--' | hashes --width 8 -b 3-6 --decode hex |
    diff - <(printf '00ff\n1234\n' | hashes --decode hex)
  printf 'abc\0ab\ncd\0' | hashes -z -b 2- | diff - <(printf 'bc\0b\ncd\0' | hashes -z)
  printf 'abc\r\nde\r\n' | hashes --crlf -b 2- | diff - <(printf 'bc\ne\n' | hashes)
  head -c 80000 "$LANEBLOOM" >binary
  lanebloom build --width 16 -b 5-12 -o binary.lbf binary
  lanebloom screen --width 16 -b 5-12 binary.lbf binary | cmp - binary
}

@test "a record that lacks the first byte of a range has no key" {
  printf 'abcdef\nabc\nabcd\n\n' >input
  fails_with "input: line 2: expected byte 4, found 3 bytes; see --missing" \
    lanebloom build -b 4- -o x input
  fails_with "line 4: expected byte 1, found 0 bytes" \
    lanebloom build -b 1-2 -o x input
  printf 'abcdef\0a\0' >strings
  fails_with "record 2: expected byte 2, found 1 byte; see" lanebloom build -z -b 2 -o x strings
  lanebloom build --missing=drop -b 4-6 -o keys.lbf input 2>errors
  grep -q "2 of 4 records lack a byte of the key: dropped (--missing)" errors
  [[ $(lanebloom info --json keys.lbf | jq .keys) -eq 2 ]]
  lanebloom screen --missing=keep -b 4-6 keys.lbf input 2>/dev/null | cmp - input
  lanebloom screen --missing=drop -b 4-6 keys.lbf input 2>/dev/null |
    diff - <(printf 'abcdef\nabcd\n')
  run --separate-stderr lanebloom hash --missing=drop -b 100 input
  [[ $stderr == *"is -b right?" ]]
}

@test "-b: what is refused" {
  for list in '' 0 0-1 3-2 a 1,,2 1, , 1-2-3 --4 - 1-a ' 1' 1:2 4294967296 -0 -; do
    refuses "-b: expected numbers of bytes from 1, as in 5, 2-9, 10- or -4; found '$list'" \
      lanebloom hash -b "$list"
  done
  refuses "-b: expected each byte once, found byte 3 twice" lanebloom hash -b 1-3,3-4
  refuses "-b: expected each byte once, found byte 7 twice" lanebloom hash -b 5- -b 7
  refuses "-b: expected at most 64 ranges, found more" lanebloom hash -b "$(seq -s , 65)"
  refuses "give only one of -b and -f" lanebloom hash -b 1 -f 1
  refuses "give only one of -b and -d" lanebloom hash -b 1 -d ,
  refuses "give only one of -b, --csv, --tsv and --jsonl" lanebloom hash --csv -b 1
  refuses "give only one of -b, --csv, --tsv and --jsonl" lanebloom hash -b 1 --tsv
  refuses "give only one of --decode and several fields" lanebloom hash -b 1,2 --decode hex
  lanebloom build -o plain.lbf <<<ab
  fails_with "form 'bytes, fields joined by a tab', as -b says, found 'bytes'" \
    lanebloom screen -b 1,2 plain.lbf <<<ab
}

@test "--annotate adds a field after a tab" {
  lanebloom build -o keys.lbf <<<ab
  printf 'abc\nxyz\n' | lanebloom screen --annotate -b 1-2 keys.lbf |
    diff - <(printf 'abc\t1\nxyz\t0\n')
}
