# Key forms: how text becomes keys, and what a filter records about it.
# SPDX-License-Identifier: MIT
load helper

# decodes FORM TEXT BYTES: checks that the key of the text has these bytes, as printf writes them.
decodes() {
  [[ $(printf '%s\n' "$2" | hashes --decode "$1") == $(printf "$3\0" | hashes -z) ]]
}

# decodes_binary FORM TEXT HEX: like `decodes`, for bytes that may be 0.
decodes_binary() {
  [[ $(printf '%s\n' "$2" | hashes --decode "$1") == \
    $(xxd -r -p <<<"$3" | hashes --width $((${#3} / 2))) ]] || { echo "$@"; return 1; }
}

# is_malformed FORM TEXT MESSAGE
is_malformed() {
  printf '%s\n' "$2" >malformed
  fails_with "$3" lanebloom hash --decode "$1" malformed
  [[ $stderr == *"; see --missing and --decode" ]]
}

@test "--decode=none: records are the bytes that the text of a filter's keys stands for" {
  printf '%08x\n' {1..1000} >digits
  xxd -r -p digits >bytes
  lanebloom build --decode hex -o hex.lbf digits
  lanebloom screen --width 4 --decode=none hex.lbf bytes | cmp - bytes
  fails_with "bytes: record 1: column 1: expected a hexadecimal digit" \
    lanebloom screen --width 4 hex.lbf bytes
  lanebloom build --decode none --width 4 -o bytes.lbf bytes
  lanebloom screen --filter hex.lbf --filter bytes.lbf --decode none --width 4 -c bytes |
    grep -qx 1000
}

@test "hex: either case, an even number of digits" {
  decodes hex '' ''
  decodes hex 48656C6c6f 'Hello'
  decodes_binary hex 00ffFF7f80 00ffff7f80
  for n in 2 6 8 14 16 18 64 66 130; do
    text=$(head -c $((n / 2)) "$LANEBLOOM" | xxd -p | tr -d '\n')
    decodes_binary hex "$text" "$text"
    decodes_binary hex "${text^^}" "$text"
  done
  is_malformed hex 123 "column 1: expected an even number of hexadecimal digits, found 3"
  is_malformed hex 0x12 "column 2: expected a hexadecimal digit, found 'x'"
  is_malformed hex ' 12' "column 1: expected a hexadecimal digit, found '\\040'"
}

@test "hex: every byte that is no digit is refused, in every place" {
  for byte in / : @ G '`' g $'\200' $'\261' ' ' $'\037'; do
    for place in 0 3 7 8 17; do
      text=00000000000000000000
      printf '%s\n' "${text:0:place}$byte${text:place+1}" >input
      run -2 lanebloom hash --decode hex input
      [[ $output == *"column $((place + 1)): expected a hexadecimal digit"* ]]
    done
  done
}

@test "base64: with its padding, unused bits 0, not the letters of URLs" {
  decodes base64 '' ''
  for bytes in f fo foo foob fooba foobar; do
    decodes base64 "$(printf $bytes | base64)" $bytes
  done
  decodes_binary base64 '+/+/AA==' fbffbf00
  for n in 7 8 9 31 32 33 48 100; do
    decodes_binary base64 "$(head -c $n "$LANEBLOOM" | base64 -w 0)" \
      "$(head -c $n "$LANEBLOOM" | xxd -p | tr -d '\n')"
  done
  is_malformed base64 Zg \
    "column 1: expected a multiple of 4 base64 characters, padding (=) included, found 2"
  is_malformed base64 Zg=a "column 3: expected a base64 character, found '='"
  is_malformed base64 ==== "column 1: expected a base64 character, found '='"
  is_malformed base64 -_-_ "column 1: expected a base64 character, found '-'"
  is_malformed base64 Zh== "column 1: expected base64 whose unused last bits are 0, found 'Zh=='"
  is_malformed base64 AAAAAAAAZmB= "column 1: expected base64 whose unused last bits are 0"
}

@test "base64: every byte that is no character of it is refused, in every place" {
  for byte in '*' , - . : = @ '[' _ '`' '{' $'\200' $'\253' ' ' $'\037'; do
    for place in 0 5 6 11; do
      text=AAAAAAAAAAAAZg==
      printf '%s\n' "${text:0:place}$byte${text:place+1}" >input
      run -2 lanebloom hash --decode base64 input
      [[ $output == *"column $((place + 1)): expected a base64 character"* ]]
    done
  done
}

@test "whole numbers: little-endian, and nothing out of range" {
  decodes_binary int32 -2147483648 00000080
  decodes_binary int32 2147483647 ffffff7f
  decodes_binary int32 -0 00000000
  decodes_binary int32 +0010 0a000000
  decodes_binary int64 -9223372036854775808 0000000000000080
  decodes_binary int64 9223372036854775807 ffffffffffffff7f
  decodes_binary int64 -2 feffffffffffffff
  decodes_binary uint32 4294967295 ffffffff
  decodes_binary uint64 18446744073709551615 ffffffffffffffff
  decodes_binary uint64 258 0201000000000000
  decodes_binary int32 5.0 05000000 # as pandas writes numbers in a column with nulls
  decodes_binary int32 -25.00e+1 06ffffff
  decodes_binary int32 -2147483648000E-3 00000080
  decodes_binary int32 0e999999999 00000000
  decodes_binary int32 0.0e-99999999999999999999 00000000
  decodes_binary int64 1e18 000064a7b3b6e00d
  decodes_binary int64 -9.223372036854775808e18 0000000000000080
  decodes_binary uint64 18446744073709551615.0 ffffffffffffffff
  decodes_binary uint32 .1e1 01000000
  for text in '' - + 0x1 5.5 0.1 ' 1' 1e-1 1e 1e+ e1 . 1.0.0 1e1.0 1e3x -2147483649 2147483648 \
    2147483648.0 1e10 99999999999999999999 1e999999999 1e-999999999 1e99999999999999999999; do
    is_malformed int32 "$text" "expected a whole number from -2147483648 to 2147483647, found"
  done
  is_malformed int64 -9223372036854775809 "column 1: expected a whole number from -9"
  is_malformed int64 9223372036854775808 "column 1: expected a whole number from -9"
  is_malformed uint32 4294967296 "column 1: expected a whole number from 0 to 4294967295"
  is_malformed uint64 18446744073709551616 "a whole number from 0 to 18446744073709551615, found"
  is_malformed uint64 +1 "column 1: expected a whole number from 0"
}

# The time to decode a number is proportional to the length of its text, even if the number has many
# zeros or a large exponent.
@test "numbers of a million digits" {
  zeros=$(head -c 1000000 /dev/zero | tr '\0' 0)
  for text in "0.${zeros}1e1000001" "${zeros}1" "1$zeros.${zeros}e-1000000" "1e-0${zeros}0"; do
    printf '%s\n' "$text" >number
    for form in int64 decimal128; do
      diff <(timeout 5 "$LANEBLOOM" hash --decode $form number | cut -c 1-16) \
        <(echo 1 | hashes --decode $form)
    done
  done
  printf '1%s\n' "$zeros" >number
  fails_with "column 1: expected a whole number" timeout 5 "$LANEBLOOM" hash --decode int64 number
}

@test "--trim and --lower" {
  printf ' \tAZaz@[`{\303\204 b\r \nQWERTYUIOPASDFGHJKL\n' >input
  diff <(hashes --trim input) <(printf 'AZaz@[`{\303\204 b\nQWERTYUIOPASDFGHJKL\n' | hashes)
  diff <(hashes --trim --lower input) <(printf 'azaz@[`{\303\204 b\nqwertyuiopasdfghjkl\n' | hashes)
  [[ $(printf ' 7 \n' | hashes --trim --decode int32) == $(printf '7\n' | hashes --decode int32) ]]
  printf 'ABC   Def   ' | hashes --width 6 --trim --lower | diff - <(printf 'abc\ndef\n' | hashes)
  printf ' A\0b ' | hashes -z --trim --lower | diff - <(printf 'a\nb\n' | hashes)
  printf ' A ,"b ""c"" ",\n' | hashes --csv --no-header -f 1,2 --trim --lower |
    diff - <(printf 'a\tb "c"\n' | hashes)
}

@test "a filter says its form, and screen, add and hash apply it" {
  printf '00ff\nABCD\n' >keys
  lanebloom build --decode hex --trim -o hex.lbf keys
  [[ $(lanebloom info hex.lbf) == *$'\n'"key form: hex, trimmed" ]]
  [[ $(lanebloom info --json hex.lbf | jq -c .key_form) == \
    '{"encoding":"hex","trimmed":true,"lowered":false,"uppered":false,"joined":false,'\
'"digest":null}' ]]
  printf ' 00FF\nabcd\n1234\n' >input
  lanebloom screen hex.lbf input | diff - <(head -n 2 input)
  lanebloom screen --decode hex --trim hex.lbf input | diff - <(head -n 2 input)
  lanebloom screen -j 2 --tsv --no-header -f 1 hex.lbf input | diff - <(head -n 2 input)
  lanebloom hash --filter hex.lbf input >with_filter
  diff <(cut -f 1 with_filter) <(hashes --decode hex --trim input)
  lanebloom build --expected 100 --decode int64 -o numbers.lbf <<<5
  lanebloom add numbers.lbf <<<+7
  [[ $(printf '5\n07\n8\n' | lanebloom screen -c numbers.lbf) -eq 2 ]]
}

@test "another form is refused, and both are named" {
  lanebloom build --decode hex -o hex.lbf <<<ab
  lanebloom build -o plain.lbf <<<ab
  printf 'a\tb\n' >rows
  lanebloom build -f 1,2 -o joined.lbf rows
  fails_with "hex.lbf: expected a filter of key form 'base64', as --decode says, found 'hex'" \
    lanebloom screen --decode base64 hex.lbf rows
  fails_with "form 'hex', as --decode says, found 'bytes'" \
    lanebloom screen --decode hex plain.lbf rows
  fails_with "form 'bytes, trimmed', as --trim says, found 'hex'" \
    lanebloom screen --trim hex.lbf rows
  fails_with "form 'bytes', as -f says, found 'bytes, fields joined by a tab'" \
    lanebloom screen -f 1 joined.lbf rows
  fails_with "form 'bytes, fields joined by a tab', as -f says, found 'bytes'" \
    lanebloom screen -f 1,2 plain.lbf rows
  [[ $(lanebloom screen -c joined.lbf rows) -eq 1 ]]
  [[ $(lanebloom screen -c -f 1,2 joined.lbf rows) -eq 1 ]]
  fails_with "plain.lbf: expected a filter of key form 'hex', as hex.lbf says, found 'bytes'" \
    lanebloom screen --filter hex.lbf --filter plain.lbf rows
  fails_with "plain.lbf: expected keys of the form 'hex', found 'bytes'; a filter merges with" \
    lanebloom merge -o merged.lbf hex.lbf plain.lbf
  [[ ! -e merged.lbf ]]
  lanebloom merge -o merged.lbf hex.lbf hex.lbf
  [[ $(lanebloom info merged.lbf) == *"key form: hex"* ]]
  lanebloom build --raw --decode hex -o raw <<<ab
  [[ $(lanebloom screen -c --raw --format rocksdb --decode hex raw <<<AB) -eq 1 ]]
  refuses "give only one of --decode and several fields" lanebloom hash --decode hex -f 1,2 rows
  refuses "expected none, hex, base64, int32" lanebloom hash --decode octal rows
}

@test "malformed text: line and column, or counted as missing" {
  numbers 1 5000 | sed 's/.*/00/' >input
  printf '0g\n' >>input
  fails_with "input: line 5001: column 2: expected a hexadecimal digit, found 'g'; see" \
    lanebloom build -j 2 --decode hex -o x input
  printf 'id,key\n"two\nlines","00"\n7,"zz"\n' >rows.csv # the header is line 1
  fails_with "rows.csv: line 4: column 4: expected a hexadecimal digit, found 'z'" \
    lanebloom build --csv -f key --decode hex -o x rows.csv
  lanebloom build --decode hex -o hex.lbf <<<00
  printf '00\nxx\n01\n' >input
  lanebloom screen --missing=keep hex.lbf input 2>errors | diff - <(printf '00\nxx\n')
  grep -q "1 of 3 records" errors
  lanebloom screen --missing=drop hex.lbf input 2>errors | diff - <(printf '00\n')
  lanebloom build --missing=drop --decode hex -o dropped.lbf input
  [[ $(lanebloom info --json dropped.lbf | jq .keys) -eq 2 ]]
}

@test "match: KEYS and INPUT" {
  printf 'AB\ncd\n' >keys
  printf '1\tab\n2\tCD\n3\tef\n' >rows
  lanebloom match --decode hex -f 2 keys rows | diff - <(head -n 2 rows)
  lanebloom match --lower -f 2 keys rows | diff - <(head -n 2 rows)
  lanebloom match -v --lower -f 2 keys rows | diff - <(tail -n 1 rows)
}

@test "floats, dates, times, decimals and UUIDs are what Python makes of them" {
  python3 "$BATS_TEST_DIRNAME/typed.py" . >types
  [[ $(wc -l <types) -eq 9 ]]
  while read -r type nbytes; do
    hashes --decode $type <$type.text >found
    hashes --decode none --width $nbytes <$type.bytes >wanted
    [[ $(wc -l <wanted) -ge 1000 ]]
    cmp wanted found || { paste $type.text wanted found | awk '$NF != $(NF - 1)' | head; return 1; }
  done <types
}

@test "floats, dates, times, decimals and UUIDs: what is refused" {
  for text in '' . e5 1e 1x 0x1p3 nan ' 1' '1 ' 1,5 --1 3.4028236e38 infinit; do
    is_malformed float32 "$text" "column 1: expected a number up to 3.4028235e38, or inf, found '"
  done
  is_malformed float64 1e309 "expected a number up to 1.7976931348623157e308, or inf, found '1e309'"
  for text in '' 2024-2-29 2023-02-29 1900-02-29 2024-13-01 2024-00-01 2024-01-00 2024-04-31 \
    0000-01-01 12024-01-01 2024-01-01x 2024/01/01 20240101; do
    is_malformed date32 "$text" "column 1: expected a date, as 2024-02-29, found '"
  done
  for text in 2024-02-30 2024-02-29T 2024-02-29T24:00 2024-02-29T12:60 2024-02-29T12:34:60 \
    2024-02-29T12:34:56. 2024-02-29T12:34:56.7891 2024-02-29T12:34:56+1 2024-02-29T12:34+24:00 \
    2024-02-29T12:34+01:60 2024-02-29Z 2024-02-29t12:34 2024-02-29T12:34z 2024-02-29T12:34:56ZZ; do
    is_malformed timestamp-ms "$text" "expected a time, as 2024-02-29T12:34:56.789Z, found"
  done
  for text in 1677-09-21T00:12:43.145224191 2262-04-11T23:47:16.854775808; do
    is_malformed timestamp-ns $text "expected a time from 1677 to 2262"
  done
  decodes_binary decimal128 1.5e1 0f000000000000000000000000000000
  decodes_binary decimal128 -10e-1 ffffffffffffffffffffffffffffffff
  decodes_binary decimal128 0e99999999999999999999 00000000000000000000000000000000
  for text in '' . - e5 1e 1.5 15e-2 0x1 1_0 100000000000000000000000000000000000000 1e38 \
    1e999999999 1e-999999999; do
    is_malformed decimal128 "$text" "expected a decimal number of 38 digits at most that needs no"
  done
  for text in '' 123e4567-e89b-12d3-a456-42661417400 123e4567-e89b-12d3-a456-4266141740000 \
    123e4567e-89b-12d3-a456-426614174000 123e4567-e89b-12d3-a456-42661417400g \
    '{123e4567-e89b-12d3-a456-426614174000}' 123e4567e89b12d3a4564266141740000000; do
    is_malformed uuid "$text" "column 1: expected a UUID, as 123e4567-e89b-12d3-a456-426614174000"
  done
  text=123e4567-e89b-12d3-a456-426614174000
  for place in 0 7 8 9 12 13 14 17 18 19 22 23 24 35; do
    is_malformed uuid "${text:0:place}/${text:place+1}" "column 1: expected a UUID"
  done
  printf '2024-02-29\nnever\n' >dates
  [[ $(lanebloom hash --decode date32 --missing=drop dates 2>/dev/null | wc -l) == 1 ]]
}

@test "a filter records the types of its keys" {
  printf '2024-02-29\n1970-01-01\n' >dates
  lanebloom build --decode date32 -o dates.lbf dates
  lanebloom info dates.lbf | grep -q date32
  [[ $(printf '1970-01-01\n1970-01-02\n' | lanebloom screen dates.lbf) == 1970-01-01 ]]
  fails_with "expected a date" lanebloom screen dates.lbf <(echo 5)
}
