# lanebloom verify: whole files, and every way in which a file can be damaged.
# SPDX-License-Identifier: MIT
load helper

make_filter() {
  numbers 1 5000 >keys
  lanebloom build -o filter keys
}

@test "a line for each file; -q prints only what is wrong" {
  make_filter
  cp filter $'line\nend'
  run -0 --separate-stderr lanebloom verify filter $'line\nend' - <filter
  [[ $output == "filter: ok
line\\012end: ok
(standard input): ok" && -z $stderr ]]
  lanebloom verify <(cat filter) | grep -q ': ok$'
  run -0 --separate-stderr lanebloom verify -q filter filter
  [[ -z $output && -z $stderr ]]
  head -c 100 filter >short
  run -1 --separate-stderr lanebloom verify --quiet filter short filter
  [[ ${#lines[@]} -eq 1 && $output == "short: truncated: "* && -z $stderr ]]
}

@test "filters of every format, and of no keys, are ok" {
  numbers 1 100 >keys
  : >none
  for format in leveldb leveldb-signed rocksdb-legacy rocksdb-local; do
    for input in keys none; do
      lanebloom build --format $format -o $format-$input $input
      lanebloom build --format $format --expected 1k -o $format-$input-1k $input
    done
  done
  rm keys none
  run -0 lanebloom verify ./*
  [[ ${#lines[@]} -eq 16 && -z $(grep -v ': ok$' <<<"$output") ]]
}

@test "a change of any byte is found" {
  printf 'a\nb\n' | lanebloom build --format leveldb -o filter
  local nbytes=$(stat -c %s filter) at byte changed=()
  for ((at = 0; at < nbytes; at++)); do
    byte=$(od -A n -t u1 -j $at -N 1 filter)
    cp filter changed.$at
    printf "\\x$(printf %x $((byte ^ 16)))" |
      dd of=changed.$at bs=1 seek=$at conv=notrunc status=none
    changed+=(changed.$at)
  done
  run -1 --separate-stderr lanebloom verify "${changed[@]}"
  [[ ${#lines[@]} -eq $nbytes && -z $stderr ]]
  run -1 grep -v '^changed[.][0-9]*: .*expected .*found' <<<"$output"
}

@test "files of another length, and other files" {
  make_filter
  nbytes=$(stat -c %s filter)
  for length in 0 1 8 63 64 65 $((nbytes - 1)); do
    head -c $length filter >other
    run -1 lanebloom verify other
    [[ $output == "other: "*expected*found* ]]
  done
  { cat filter; echo; } >other
  run -1 lanebloom verify other
  [[ $output == "other: too long: expected a payload of $((nbytes - 64)) bytes"* ]]
  run -1 lanebloom verify keys filter
  [[ ${lines[0]} == "keys: not a lanebloom container: expected it to start with "* ]]
  [[ ${lines[1]} == "filter: ok" ]]
}

@test "checksums that are right of a filter that cannot be" {
  # Each is a leveldb filter of two keys at 10 bits without set bits. One states 31 probes, one 6.
  printf %b \
    '\x89\x4c\x42\x46\x0d\x0a\x1a\x0a\x01\x00\x00\x00\x01\x00\x00\x00' \
    '\x02\x00\x00\x00\x00\x00\x00\x00\x10\x27\x00\x00\x00\x00\x00\x00' \
    '\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x52\x13\x0a\x97' \
    '\x40\x10\xed\xfc\x21\xd2\xf1\x93\x00\x00\x00\x00\x00\x00\x00\x00' \
    '\x00\x00\x00\x00\x00\x00\x00\x00\x1f' >always
  printf %b \
    '\x89\x4c\x42\x46\x0d\x0a\x1a\x0a\x01\x00\x00\x00\x01\x00\x00\x00' \
    '\x02\x00\x00\x00\x00\x00\x00\x00\x10\x27\x00\x00\x00\x00\x00\x00' \
    '\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x52\x13\x0a\x97' \
    '\xc1\x77\xbb\x65\x4e\xe3\x4c\x3b\x00\x00\x00\x00\x00\x00\x00\x00' \
    '\x00\x00\x00\x00\x00\x00\x00\x00\x06' >unset
  run -1 --separate-stderr lanebloom verify always unset
  [[ ${#lines[@]} -eq 2 && -z $stderr ]]
  [[ ${lines[0]} == "always: expected a filter that its engine can read, found one that every"* ]]
  [[ ${lines[1]} == "unset: expected the bits of 2 keys, found no bit set" ]]
}

@test "files that cannot be read: status 2, and the others are verified" {
  make_filter
  head -c 100 filter >short
  run -2 --separate-stderr lanebloom verify missing short . filter
  [[ $output == "short: truncated: "*"filter: ok" && ${#stderr_lines[@]} -eq 2 ]]
  [[ ${stderr_lines[0]} == "lanebloom: missing: No such file or directory" ]]
  [[ ${stderr_lines[1]} == "lanebloom: .: Is a directory; "* ]]
  refuses "expected a FILE, found none" lanebloom verify
  run -2 --separate-stderr bash -c "'$LANEBLOOM' verify filter >/dev/full"
  is_message "write error: No space left on device"
}
