#!/usr/bin/env bats
# The files of DCSO's bloom: screened, compressed, and with attached data. tests/frozen/ compares
# their bytes with those of DCSO.
# SPDX-License-Identifier: MIT
load helper

export LC_ALL=C # keys are bytes

@test "info and plan say what the header says" {
  numbers 1 1000 >keys
  lanebloom build --raw --format dcso --rate 1% --expected 1500 -o filter keys
  lanebloom info --raw --format dcso filter >found
  grep -E "^keys: (1000|99[0-9])$" found # a key that sets no bit does not count
  grep -x "planned for: 1500 keys" found
  [[ $(lanebloom info --json --raw --format dcso filter | jq .planned_keys) == 1500 ]]
  nbytes=$(lanebloom plan --json --keys 1500 --rate 1% |
    jq 'select(.format == "dcso").filter_bytes')
  [[ $(stat -c %s filter) == $nbytes ]]
}

@test "a file in gzip is opened as it is, and a damaged one is refused" {
  numbers 1 5000 >keys
  numbers 4001 9000 >asked
  lanebloom build --raw --format dcso --rate 0.1% -o filter keys
  lanebloom screen --raw --format dcso filter asked >expected
  gzip <filter >filter.gz
  lanebloom screen --raw --format dcso filter.gz asked | cmp - expected
  [[ $(lanebloom info --raw --format dcso filter.gz | grep size) == \
    "filter size: $(stat -c %s filter) bytes" ]]
  head -c 3000 filter.gz >short.gz
  fails_with "short.gz: truncated" lanebloom screen --raw --format dcso short.gz asked
  printf 'lines\n' | gzip >lines.gz
  fails_with "lines.gz: expected a DCSO filter, which has at least 48 bytes, found 6" \
    lanebloom screen --raw --format dcso lines.gz asked
}

# Writes a header with these flags, probes and bits, and then n MiB of zeros.
header_and_zeros() { # FLAGS NPROBES NBITS MIB
  python3 - "$@" <<'END'
import struct, sys
flags, nprobes, nbits, n = map(int, sys.argv[1:])
sys.stdout.buffer.write(struct.pack("<QQdQQQ", flags, 100, 0.01, nprobes, nbits, 0))
for _ in range(n):
    sys.stdout.buffer.write(bytes(1 << 20))
END
}

@test "a header in gzip is checked before the rest is decompressed" {
  numbers 1 10 >asked
  raw="--raw --format dcso"
  for header in "2 7 1000:begins with the byte 01, found 02" \
    "1 7 0:expected bits for 7 probes per key, found none" \
    "1 256 1000000000:expected at most 255 probes per key, found 256"; do
    header_and_zeros ${header%%:*} 8 | gzip | head -c 6000 >cut.gz
    fails_with "${header#*:}" lanebloom info $raw cut.gz
  done
  header_and_zeros 1 7 1000 8 | gzip | head -c 6000 >cut.gz
  fails_with "cut.gz: truncated" lanebloom screen $raw cut.gz asked
}

@test "a file in gzip takes the memory that its header announces" {
  address_space_can_be_limited || skip "the address space cannot be limited"
  numbers 1 10 >asked
  raw="--raw --format dcso"
  header_and_zeros 1 7 1000 65 | gzip -1 >much.gz
  fails_with "much.gz: expected at most 64 MiB of attached data in gzip, found more; decompress" \
    lanebloom screen $raw much.gz asked
  header_and_zeros 1 7 1000 63 | gzip -1 >enough.gz
  run -1 lanebloom screen $raw enough.gz asked
  header_and_zeros 1 7 1000 600 | gzip -1 >bomb.gz
  (ulimit -v 600000 && fails_with "found more" lanebloom screen $raw bomb.gz asked)
  header_and_zeros 1 7 $((8 << 20 << 10)) 1 | gzip -1 >short.gz
  (ulimit -v 600000 && fails_with "short.gz: expected at least" lanebloom info $raw short.gz)
}

@test "damaged files are refused" {
  numbers 1 5000 >keys
  lanebloom build --raw --format dcso --rate 0.1% -o filter keys
  head -c 47 filter >short
  fails_with "expected a DCSO filter, which has at least 48 bytes, found 47" \
    lanebloom screen --raw --format dcso short keys
  head -c 8000 filter >cut
  fails_with "words of 8 bytes after the header, as it says, found 7952 bytes" \
    lanebloom screen --raw --format dcso cut keys
  { printf '\2'; tail -c +2 filter; } >other
  fails_with "begins with the byte 01, found 02" lanebloom screen --raw --format dcso other keys
}

@test "a file without --raw is recognised, and other files are not" {
  numbers 1 5000 >keys
  lanebloom build --raw --format dcso --rate 0.1% -o filter keys
  fails_with "expected a lanebloom container, found a filter of DCSO's bloom" \
    lanebloom screen filter keys
  { head -c 8 filter; printf '\1'; tail -c +10 filter; } >other # another number of planned keys
  run -2 --separate-stderr lanebloom screen other keys
  [[ $stderr != *DCSO* ]]
}

@test "keys are added to a filter that was planned for a rate" {
  numbers 1 1000 >keys-a
  numbers 5001 7000 >keys-b
  for size in "--rate 1%" "--rate 0.037" "--bits 9.5"; do
    lanebloom build --format dcso $size --expected 3k -o seen keys-a
    lanebloom build --format dcso $size --expected 3k -o all keys-a keys-b
    lanebloom add seen keys-b
    [[ $(lanebloom info seen | grep "bits set") == "$(lanebloom info all | grep "bits set")" ]]
    [[ $(lanebloom screen -c seen keys-a keys-b) == 3000 ]]
    numbers 10001 13000 >many
    run -2 --separate-stderr lanebloom add seen many
    [[ $stderr == *"the filter has room for 3000 keys"* ]]
  done
}

@test "the upper bytes of the flags stay as they are" {
  numbers 1 1000 >keys-a
  numbers 5001 7000 >keys-b
  raw="--raw --format dcso"
  lanebloom build $raw --rate 1% --expected 3k -j 1 -o all keys-a keys-b
  lanebloom build $raw --rate 1% --expected 3k -j 1 -o seen keys-a
  { printf '\1\2\0\0\0\0\0\377'; tail -c +9 seen; } >flags
  lanebloom add $raw -j 1 flags keys-b
  cmp <(head -c 8 flags) <(printf '\1\2\0\0\0\0\0\377')
  cmp <(tail -c +49 flags) <(tail -c +49 all)
}

@test "the sum of counts of keys does not wrap" {
  numbers 1 1000 >keys
  raw="--raw --format dcso"
  lanebloom build $raw --rate 1% --expected 3k -o filter keys
  { head -c 40 filter; printf '\376\377\377\377\377\377\377\377'; tail -c +49 filter; } >many
  lanebloom merge $raw -o sum filter many
  cmp <(head -c 48 sum | tail -c 8) <(printf '\377\377\377\377\377\377\377\377')
  lanebloom add $raw --overfill many keys
  cmp many sum
  [[ $(lanebloom info --json $raw sum | jq .keys) == null ]]
}

@test "the count of keys does not depend on the workers if keys are distinct and the filter large" {
  seq 1 200000 >keys
  lanebloom build --raw --format dcso --rate 1e-9 -j 1 -o one keys
  lanebloom build --raw --format dcso --rate 1e-9 -j 3 -o several keys
  cmp <(tail -c +49 one) <(tail -c +49 several)
  cmp <(head -c 40 one) <(head -c 40 several)
}

@test "bytes above ASCII are hashed as fleur does on x86" {
  printf 'caf\xc3\xa9\nascii\n' >keys
  for format in dcso dcso-signed; do
    lanebloom build --raw --format $format --rate 1e-9 -o $format keys
    [[ $(lanebloom screen --raw --format $format -c $format keys) == 2 ]]
  done
  [[ $(lanebloom screen --raw --format dcso-signed dcso keys) == ascii ]]
  [[ $(lanebloom screen --raw --format dcso dcso-signed keys) == ascii ]]
}

@test "add and merge keep the attached data of bare files" {
  numbers 1 1000 >keys-a
  numbers 5001 7000 >keys-b
  raw="--raw --format dcso"
  lanebloom build $raw --rate 1% --expected 3k -j 1 -o a keys-a
  lanebloom build $raw --rate 1% --expected 3k -j 1 -o b keys-b
  lanebloom build $raw --rate 1% --expected 3k -j 1 -o all keys-a keys-b
  printf 'attached data' >>a
  printf 'attached data' >>all
  cp a added
  tr a-z A-Z <keys-b | lanebloom add $raw --lower -j 1 added
  cmp <(head -c 40 added) <(head -c 40 all)
  cmp <(tail -c +49 added) <(tail -c +49 all)
  lanebloom merge $raw -o merged b a
  cmp merged added
  [[ $(lanebloom screen $raw -c merged keys-a keys-b) == 3000 ]]
  cp b c
  printf 'other data' >>c
  fails_with "c: expected the same attached bytes, found others" \
    lanebloom merge $raw -o merged a b c
  gzip -k a
  fails_with "a.gz: expected a filter that is not compressed" lanebloom add $raw a.gz keys-b
  lanebloom merge $raw -o merged b a.gz
  cmp merged added
}
