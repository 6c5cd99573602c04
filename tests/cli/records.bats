# Records: how an input is cut into records, and how records are printed again.
# SPDX-License-Identifier: MIT
load helper

# hash_of BYTES: prints the hash of the bytes as one record, since a fixed width cuts nothing.
hash_of() {
  printf "$1" >bytes
  lanebloom hash --width "$(stat -c %s bytes)" bytes | cut -f 1
}

@test "lines: abc is one, a newline is an empty one, nothing is none" {
  printf 'abc\n' | records 1
  holds screened 'abc\n'
  printf '\n' | records 1
  holds screened '\n'
  printf '' | records 0
  holds screened ''
  printf '\n\n\na\n\n' | records 5
  holds screened '\n\n\na\n\n'
}

@test "a last record without terminator counts and gets one" {
  printf 'abc' | records 1
  holds screened 'abc\n'
  printf 'abc\n\ndef' | records 3
  holds screened 'abc\n\ndef\n'
  printf 'abc\0def' | records 2 -z
  holds screened 'abc\0def\0'
  printf 'abc\r' | records 1 --crlf
  holds screened 'abc\r\n'
}

@test "lines of one size, but for one line anywhere in a batch, are cut as CSV is" {
  seq -f %011.0f 6000 >alike
  for n in 1 2047 2048 4097 6000; do
    for edit in 's/$/x/' 's/.$//' 's/.....$/\n&/' 's/x//'; do
      sed "$n$edit" alike >lines
      sed 's/$/\r/' lines >returns
      sed "$n!s/$/\r/" lines >others
      sed "${n}s/$/\r/" lines >one
      lanebloom hash --csv --no-header -f 1 lines | cut -f 1 >expected
      for options in lines '--crlf returns' '--crlf others' '--crlf one'; do
        lanebloom hash $options | cut -f 1 >found
        cmp found expected
      done
      lanebloom build -o filter lines
      lanebloom screen filter lines >found
      cmp found lines
    done
  done
}

@test "each file's last record ends with its file" {
  printf 'a' >a
  printf 'b' >b
  lanebloom build -o filter a b
  lanebloom screen -n filter a b >screened
  holds screened '1:a\n2:b\n'
}

@test "NUL and every other byte are part of a line's key" {
  for byte in $(seq 0 255); do
    ((byte == 10)) || printf "x\\$(printf %03o "$byte")y\n"
  done >all
  records 255 <all
  cmp all screened
  [[ $(hashes < <(printf 'x\0y\n')) == "$(hash_of 'x\0y')" ]]
  [[ $(hash_of 'x\0y') != "$(hash_of 'x\0z')" ]]
}

@test "-z: newlines are part of the key" {
  printf 'a\nb\0c\0\0' | records 3 -z
  holds screened 'a\nb\0c\0\0'
  [[ $(hashes -z < <(printf 'a\nb\0') | head -n 1) == "$(hash_of 'a\nb')" ]]
  lanebloom screen --null -n filter input >numbered
  holds numbered '1:a\nb\0002:c\0003:\0'
}

@test "a carriage return belongs to the key, unless --crlf" {
  [[ $(hashes < <(printf 'abc\r\n')) == "$(hash_of 'abc\r')" ]]
  [[ $(hashes --crlf < <(printf 'abc\r\n')) == "$(hash_of 'abc')" ]]
  [[ $(hashes --crlf < <(printf 'abc\r\r\n')) == "$(hash_of 'abc\r')" ]]
  [[ $(hashes --crlf < <(printf 'a\rbc\n')) == "$(hash_of 'a\rbc')" ]]
  [[ $(hashes --crlf < <(printf 'abc')) == "$(hash_of 'abc')" ]]
  printf 'abc\ndef\r\n\r\n\n' | records 4 --crlf
  holds screened 'abc\ndef\r\n\r\n\n'
  printf 'abc\n' | lanebloom build -o filter
  printf 'abc\r\n' >dos
  run -1 lanebloom screen filter dos
  lanebloom screen --crlf filter dos | cmp - dos
}

print_status_and_fail() {
  echo "status: $status, standard error: $stderr"
  return 1
}

# warns TEXT COMMAND...: checks that the command prints one warning, and succeeds or selects
# nothing.
warns() {
  local text=$1
  shift
  run --separate-stderr "$@"
  [[ $status -le 1 && ${#stderr_lines[@]} -eq 1 &&
    $stderr == "lanebloom: "*": warning: "*"$text"* ]] || print_status_and_fail
}

# is_quiet COMMAND...: checks that the command prints no warning, and succeeds or selects nothing.
is_quiet() {
  run --separate-stderr "$@"
  [[ $status -le 1 && -z $stderr ]] || print_status_and_fail
}

@test "line ends of Windows in one of two lists cause a warning" {
  seq 1 3000 >unix
  sed 's/$/\r/' unix >dos
  awk '{ print $1 "\t" $1 + 1 }' unix >unix.tsv
  sed 's/$/\r/' unix.tsv >dos.tsv
  { head -n 5 dos; cat unix; } >both
  lanebloom build -o unix.lbf unix
  lanebloom build --decode int32 -o int.lbf unix
  text="the first keys all end in a carriage return (CR)"
  warns "$text, but no key of KEYS does: --crlf" lanebloom match -c unix dos
  warns "$text, but no key of KEYS does: --crlf" lanebloom match -c unix unix.tsv dos
  warns "none of the first keys ends in a carriage return (CR), but those of KEYS do: --crlf" \
    lanebloom match -c dos unix
  warns "but those of KEYS do" lanebloom match --keys-field 2 -f 1 -c dos.tsv unix.tsv
  warns "but no key of KEYS does" lanebloom match -f 2 -c unix dos.tsv
  warns "$text, and no more pass than absent keys would: --crlf" lanebloom screen -c unix.lbf dos
  warns "$text, and no more pass than absent keys would" lanebloom screen -v -c unix.lbf dos
  warns "$text, and no more pass than absent keys would" \
    lanebloom screen -c unix.lbf - < <(head -n 3 dos)
  warns "$text, as lines of Windows do: --crlf" lanebloom build --expected 9000 -o dos.lbf dos
  warns "$text, as lines of Windows do: --crlf" lanebloom build --rate 1% -o other.lbf dos unix
  warns "$text, as lines of Windows do: --crlf" lanebloom add dos.lbf dos
  text="some of the first keys end in a carriage return (CR), and others do not"
  for verb in "match both dos" "match unix both" "match unix - both" "screen unix.lbf both" \
    "build -o new.lbf both both" "build --rate 1% -o new.lbf both" "add dos.lbf both unix"; do
    warns "$text: --crlf leaves it out of keys" lanebloom $verb <unix
  done
  for quiet in "match unix unix" "match dos dos" "match --crlf unix dos" "match --crlf dos unix" \
    "match --trim unix dos" "match -f 1 unix dos.tsv" "match --crlf both dos" \
    "match --keys-field 1 dos.tsv unix" "match -z unix dos" \
    "match --tsv --no-header -f 2 unix dos.tsv" \
    "screen unix.lbf unix" "screen dos.lbf dos" "screen --crlf unix.lbf dos" \
    "screen -v unix.lbf unix" "screen unix.lbf unix dos" "build --crlf -o new.lbf dos" \
    "build --crlf -o new.lbf both" "build -f 1 -o new.lbf dos.tsv" "build -z -o new.lbf dos" \
    "hash dos" "match unix /dev/null"; do
    is_quiet lanebloom $quiet
  done
  printf 'a\xff\r\nb\n' >binary # this is not text, so keys may end in any byte
  is_quiet lanebloom match -c binary binary
  printf '\r\r\r\r' >binary # keys of a fixed width and decoded keys may end in any byte
  is_quiet lanebloom match --width 2 <(printf 'abab') binary
  printf '0d\n0d0d\n' >hex
  is_quiet lanebloom build --decode hex -o new.lbf hex
}

@test "lines that end in carriage returns alone are refused, and one that has some is a record" {
  numbers 1 3000 | tr '\n' '\r' >mac
  numbers 1 3000 | sed 's/$/\t1/' | tr '\n' '\r' >mac.tsv
  numbers 1 3 >keys
  lanebloom build -o filter keys
  text="expected lines that end in LF or in CR LF, found carriage returns (CR) alone"
  for file in mac mac.tsv; do
    gzip -c $file >$file.gz
    head -c 20 $file >$file.short
    for input in $file $file.gz $file.short; do
      fails_with "$input: $text" lanebloom match keys $input
      fails_with "$input: $text" lanebloom match $input keys
      fails_with "$input: $text" lanebloom match -f 1 keys $input
      fails_with "$input: $text" lanebloom match --keys-field 1 $input keys
      fails_with "$input: $text" lanebloom screen filter $input
      fails_with "$input: $text" lanebloom build -o other $input
      fails_with "$text" lanebloom hash < <(dd if=$input bs=7 status=none)
      lanebloom hash --null $input >/dev/null
    done
  done
  [[ ! -e other ]]
  for record in 'a\rb\n' 'a\r' '\r' 'a\rb\nc' '\n\ra'; do
    printf "$record" | lanebloom hash 2>/dev/null >/dev/null
  done
  printf '"a\rb"' | lanebloom hash --csv --no-header -f 1 >/dev/null
  printf '{\r"id": 1\r}' | lanebloom hash --jsonl -f id >/dev/null
}

@test "NULs in the first lines cause one warning, and nothing else" {
  printf 'a\0b\0' >nuls
  printf 'x\0y\nz\n' >lines
  iconv -f UTF-8 -t UTF-16LE <<<'привет' >cyrillic
  printf '1\n' | lanebloom build -o filter
  text="found NUL bytes in the first lines: records that end in NUL need --null (-z), and UTF-16"
  for file in nuls lines cyrillic; do
    gzip -c $file >$file.gz
    for input in $file $file.gz; do
      warns "$text" lanebloom screen filter $input
      [[ $stderr == "lanebloom: $input: "* ]]
      warns "$text" lanebloom screen filter $input lines
      warns "$text" lanebloom match -c $input - <<<1
      warns "$text" lanebloom build --rate 1% -o other $input
      warns "$text" lanebloom hash $input
    done
    is_quiet lanebloom screen -z filter $file
    is_quiet lanebloom match -z -c $file $file
    is_quiet lanebloom hash --width 1 $file
  done
  lanebloom match lines lines 2>/dev/null | cmp - lines
}

@test "--width: keys of N bytes, newlines and NULs included" {
  printf 'ab\ncd\0ef' | records 4 --width 2
  holds screened 'ab\ncd\0ef'
  [[ $(hashes --width 2 < <(printf 'ab\nc')) == \
    $(printf '%s\n' "$(hash_of 'ab')" "$(hash_of '\nc')") ]]
  printf '' | records 0 --width 5
}

@test "--width: a remainder is an error that says how much; screen does the rest first" {
  printf 'abcdefgh' | records 2 --width 4
  run -2 --separate-stderr lanebloom screen --width 4 filter - input < <(printf 'abcdefghij')
  [[ $output == abcdefghabcdefgh ]]
  [[ $stderr == "lanebloom: (standard input): "*"of 4 bytes, found 2 bytes after the last one" ]]
  run -2 --separate-stderr lanebloom screen --width 1000000 -c filter input
  [[ -z $output && $stderr == *"found 8 bytes after the last one"* ]]
}

@test "options that exclude each other, widths that are none" {
  refuses "give only one of" lanebloom build -o filter --width 2 -z
  refuses "give only one of" lanebloom screen filter --width 2 --crlf
  refuses "give only one of" lanebloom hash -z --crlf
  for width in 0 -1 1.5 18446744073709551616 ""; do
    refuses "--width: expected a whole number from 1 to 18446744073709551615, found '$width'" \
      lanebloom hash "--width=$width"
  done
}

@test "a byte order mark is no part of the first key, and stays in the record" {
  numbers 1 5000 >plain
  (printf '\ufeff' && cat plain) >marked
  lanebloom build -o filter plain
  for jobs in -j1 -j3; do
    lanebloom screen $jobs filter marked | cmp - marked
    lanebloom match $jobs plain marked | cmp - marked
    lanebloom match $jobs marked plain | cmp - plain
    lanebloom match $jobs -f 1 marked plain | cmp - plain
    lanebloom match $jobs --lower marked marked | cmp - marked
    [[ $(lanebloom match -c $jobs plain marked marked) == 10000 ]]
  done
  for lower in "" --lower; do
    cmp <(lanebloom hash $lower marked | cut -f 1) <(lanebloom hash plain | cut -f 1)
  done
  lanebloom build -o other marked
  cmp filter other
  printf '\ufeff%s' 1 >one
  [[ $(lanebloom match one - <<<1) == 1 ]]
  run -1 lanebloom match -z one - < <(printf '1\0') # with -z, records are not text
  printf '\ufeff' >empty
  [[ $(lanebloom match -c empty - <<<"") == 1 ]]
}

@test "records across every edge of the reading buffer" {
  for length in 1 7 11 100 4095 65537 262143 262144 262145; do
    head -c 800000 /dev/zero | tr '\0' x | fold -w $length >long
    records $(((800000 + length - 1) / length)) <long
    { cat long; echo; } | cmp - screened
    cat long | lanebloom screen filter | cmp - screened
  done
}

@test "lines of all lengths from 0 to 300, cut right at every offset" {
  for pad in {0..8}; do
    printf "%${pad}s\n" ''
    seq 0 300 | awk '{ s = ""; for (i = 0; i < $1; i++) s = s "x"; print s }'
  done >lines
  lanebloom hash lines | cut -f 2 | cmp - lines
}

@test "records that come byte by byte" {
  printf 'one\ntwo\n\nthree' >expected
  { for c in o n e '\n' t w o '\n' '\n' t h r e e; do printf "$c"; sleep 0.005; done; } |
    lanebloom hash | cut -f 2 >got
  { cat expected; echo; } | cmp - got
}

@test "lines of 70 kB and 100 MB, in files and pipes" {
  head -c 70000 /dev/zero | tr '\0' a >long
  echo >>long
  head -c 100000000 /dev/zero | tr '\0' b >>long
  printf '\nshort\n' >>long
  lanebloom build -o filter long
  [[ $(lanebloom info --json filter | jq .keys) -eq 3 ]]
  lanebloom screen filter long | cmp - long
  cat long | lanebloom screen filter | cmp - long
}

@test "memory stays small, whatever the size of the input" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  numbers 1 100 | lanebloom build -o filter
  numbers 1 2000000 >rows
  (
    ulimit -v 16000 # kB, code and libraries included; the rows alone are 26 MB
    lanebloom screen -j 2 -c filter rows
    lanebloom build -j 2 --bits 1 --expected 2000000 -o other rows
  )
}

@test "more records than a batch holds, of all three kinds" {
  numbers 1 10000 >lines
  records 10000 <lines
  cmp screened lines
  tr '\n' '\0' <lines >nuls
  records 10000 -z <nuls
  cmp screened nuls
  records 10000 --width 13 <lines
  cmp screened lines
}
