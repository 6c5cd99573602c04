# Records: how an input is cut into records, and how these are printed again.
# SPDX-License-Identifier: MIT
load helper

# records N [OPTIONS] <input: the input holds N records, all of which are selected.
records() {
  local n=$1
  shift
  cat >input
  lanebloom build --force "$@" -o filter input
  [[ $(lanebloom info --json filter | jq .keys) -eq $n ]] || { lanebloom info filter; return 1; }
  [[ $n -eq 0 || $(lanebloom screen "$@" -c filter input) -eq $n ]]
  lanebloom screen "$@" filter input >screened || [[ $n -eq 0 ]]
}

# key BYTES: prints the hash of the bytes, read with a fixed width, so that nothing is cut.
key() {
  printf "$1" >bytes
  lanebloom hash --width "$(stat -c %s bytes)" bytes | cut -f 1
}

# hashes [OPTIONS] <input
hashes() {
  lanebloom hash "$@" | cut -f 1 -s
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
  [[ $(hashes < <(printf 'x\0y\n')) == "$(key 'x\0y')" ]]
  [[ $(key 'x\0y') != "$(key 'x\0z')" ]]
}

@test "-z: newlines are part of the key" {
  printf 'a\nb\0c\0\0' | records 3 -z
  holds screened 'a\nb\0c\0\0'
  [[ $(hashes -z < <(printf 'a\nb\0') | head -n 1) == "$(key 'a\nb')" ]]
  lanebloom screen --null -n filter input >numbered
  holds numbered '1:a\nb\0002:c\0003:\0'
}

@test "a carriage return belongs to the key, unless --crlf" {
  [[ $(hashes < <(printf 'abc\r\n')) == "$(key 'abc\r')" ]]
  [[ $(hashes --crlf < <(printf 'abc\r\n')) == "$(key 'abc')" ]]
  [[ $(hashes --crlf < <(printf 'abc\r\r\n')) == "$(key 'abc\r')" ]]
  [[ $(hashes --crlf < <(printf 'a\rbc\n')) == "$(key 'a\rbc')" ]]
  [[ $(hashes --crlf < <(printf 'abc')) == "$(key 'abc')" ]]
  printf 'abc\ndef\r\n\r\n\n' | records 4 --crlf
  holds screened 'abc\ndef\r\n\r\n\n'
  printf 'abc\n' | lanebloom build -o filter
  printf 'abc\r\n' >dos
  run -1 lanebloom screen filter dos
  lanebloom screen --crlf filter dos | cmp - dos
}

fails_by_status() {
  echo "status: $status, standard error: $stderr"
  return 1
}

# warns TEXT COMMAND...: the command succeeds, or selects nothing, and prints one warning.
warns() {
  local text=$1
  shift
  run --separate-stderr "$@"
  [[ $status -le 1 && ${#stderr_lines[@]} -eq 1 &&
    $stderr == "lanebloom: "*": warning: "*"$text"* ]] || fails_by_status
}

# is_quiet COMMAND...: the command succeeds, or selects nothing, and prints no warning.
is_quiet() {
  run --separate-stderr "$@"
  [[ $status -le 1 && -z $stderr ]] || fails_by_status
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
  printf 'a\xff\r\nb\n' >binary # no text: keys may end in any byte
  is_quiet lanebloom match -c binary binary
  printf '\r\r\r\r' >binary # with a fixed width, or decoded, keys may end in any byte
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
  [[ $(hashes --width 2 < <(printf 'ab\nc')) == $(printf '%s\n' "$(key 'ab')" "$(key '\nc')") ]]
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

@test "a filter as records is refused, with what was meant" {
  numbers 1 10 >keys
  for i in 1 2; do lanebloom build -o f$i.lbf keys; done
  meant="give each of several filters by --filter"
  fails_with "f2.lbf: expected records, found a lanebloom container: $meant" \
    lanebloom screen f1.lbf f2.lbf
  fails_with "f1.lbf: expected records, found a lanebloom container: \`build' reads keys" \
    lanebloom build -o m.lbf f1.lbf f2.lbf
  meant="to hash records in its format, give it as --filter FILE"
  fails_with "f1.lbf: expected records, found a lanebloom container: $meant" \
    lanebloom hash f1.lbf
  [[ ! -e m.lbf ]]
  run -2 --separate-stderr lanebloom screen --filter f1.lbf f2.lbf f2.lbf keys
  [[ -z $output && ${#stderr_lines[@]} -eq 1 ]]
}

@test "compressed records that are not read are refused, with what decompresses them" {
  numbers 1 1000 >keys
  lanebloom build -o filter keys
  gzip -k keys
  printf '\50\265\57\375 and frames' >keys.zst
  printf '\3757zXZ\0 and blocks' >keys.xz
  printf 'BZh91AY&SY and blocks' >keys.bz2
  printf '\4\42\115\30 and blocks' >keys.lz4
  with="run"
  for verb in "build -o other" "screen filter" hash; do
    by="lanebloom ${verb%% *}"
    for z in "" -z --crlf; do
      for kind in xz:xz bz2:bzip2 lz4:lz4; do
        cat=${kind#*:}cat
        what="keys.${kind%:*}: expected records, found ${kind#*:} data"
        fails_with "$what: $with ${cat/ip2/} FILE | $by" \
          lanebloom $verb $z "keys.${kind%:*}"
      done
      fails_with "keys.gz: expected records, found gzip data: $with zcat FILE | $by" \
        lanebloom $verb --decompress=none $z keys.gz
      fails_with "keys.zst: expected records, found zstd data: $with zstdcat FILE | $by" \
        lanebloom $verb --decompress=none $z keys.zst
    done
    fails_with "(standard input): expected records, found xz data: $with xzcat FILE | $by" \
      lanebloom $verb <keys.xz
    fails_with "(standard input): expected records, found xz data" \
      lanebloom $verb - < <(cat keys.xz)
    fails_with "(standard input): expected records, found a lanebloom container" \
      lanebloom $verb < <(cat filter)
  done
  [[ ! -e other ]]
}

@test "what is no line is known by its first bytes, in pieces of any size, and in no other place" {
  numbers 1 10 >keys
  lanebloom build -o filter keys
  fails_with "found a lanebloom container" lanebloom hash < <(dd if=filter bs=1 status=none)
  fails_with "found xz data" \
    lanebloom hash < <(printf '\3757zXZ\0 and blocks' | dd bs=1 status=none)
  for text in '\37' '\37\213\7' 'x\37\213\10' '\50' '\211LB' '\211LBf\r\n' \
    '\3757zX' 'BZh9' 'BZh91AY&SX' 'BZh91AY&S'; do
    printf "$text" | records 1
  done
  for text in '\37\213' '\50\265' '\50\265\57'; do # more than one byte of the magic number, or all
    printf "$text" >stump
    fails_with "stump: truncated: expected" lanebloom hash stump
    fails_with "stump: truncated: expected" lanebloom match stump keys
  done
  for text in 'P*' 'X*M'; do # text, though skippable frames of zstd begin like this
    printf "$text" | records 1
    printf "$text" | lanebloom match - input | cmp - <(printf "$text\n")
  done
  for text in '\n\50\265\57\375' '\211\n\211LBF\r\n'; do
    printf "$text" | records 2
  done
  for file in filter <(gzip <keys) ; do # with a fixed width, keys may begin with any bytes
    lanebloom hash --width 1 $file >hashes
    [[ -s hashes ]]
  done
  for byte in '\37' '\50' '\120' '\211'; do # the first byte of each compressed format, and another
    printf "$byte" | records 1 --width 1 --decompress=auto
    [[ $(printf "$byte" | lanebloom match --width 1 --decompress=auto -c input) == 1 ]]
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
  run -1 lanebloom match -z one - < <(printf '1\0') # no text
  printf '\ufeff' >empty
  [[ $(lanebloom match -c empty - <<<"") == 1 ]]
}

# Each file is made by the usual program for it.
@test "archives, databases and programs are refused, as KEYS and as INPUT" {
  numbers 1 5 >keys
  lanebloom build -o filter keys
  tar cf x.tar keys
  tar czf x.tgz keys
  tar --format=v7 -cf x.v7.tar keys # without a magic number
  tar --format=v7 -czf x.v7.tgz keys
  python3 - <<'END'
import sqlite3, zipfile
with zipfile.ZipFile("x.zip", "w") as archive:
    archive.write("keys")
sqlite3.connect("x.db").executescript("create table t(a); insert into t values (1)")
END
  printf '7z\xbc\xaf\x27\x1c\x00\x04' >x.7z
  printf 'ARROW1\0\0' >x.arrow
  cp "$(command -v sh)" x.elf
  iconv -f UTF-8 -t UTF-32 keys >x.utf32
  for level in 1 5 9; do bzip2 -$level -c keys >x$level.bz2; done
  for file in "x.tar:a tar archive: run tar -xOf FILE" "x.tgz:a tar archive: run tar -xOf FILE" \
    x.v7.{tar,tgz}":a tar archive: run tar -xOf FILE" \
    "x.zip:a zip archive" "x.db:a database of SQLite" "x.7z:7z data: run 7z x -so FILE" \
    "x.arrow:a file of Arrow" "x.elf:a program (ELF)" \
    "x.utf32:UTF-32 text: run iconv -f UTF-32 -t UTF-8 FILE" \
    x{1,5,9}.bz2:"bzip2 data: run bzcat FILE"; do
    expected="${file%%:*}: expected records, found ${file#*:}"
    fails_with "$expected" lanebloom screen filter ${file%%:*}
    fails_with "$expected" lanebloom match ${file%%:*} keys
    fails_with "$expected" lanebloom match keys ${file%%:*}
    fails_with "$expected" lanebloom build -o other ${file%%:*}
    [[ ! -e other ]]
  done
  lanebloom screen --width 5 -c filter x.tar || [[ $? == 1 ]] # any bytes may be fixed-width records
}

# heads: prints a row for each kind of file: its first bytes, as written by pyarrow, fastavro, h5py,
# NumPy, duckdb and others, and how the message names it.
heads() {
  cat <<'END'
ORC\x11\0\0\x0a\x06\x12|an ORC file: pyarrow
ORC\x3c\0\0\xe3\x62\x17|an ORC file: pyarrow
ORC\x0a\x07\x12\x05\x08\xe8|an ORC file: pyarrow
ORC\x08\x03\x10\0\x22\x12|an ORC file: pyarrow
FEA1\0\0\0\0|a file of Feather 1: pyarrow
\xff\xff\xff\xff\xa8\0\0\0|a stream of Arrow: pyarrow
Obj\x01\x04\x14avro.codec|an Avro file: `avro-tools tojson FILE'
\x89HDF\r\n\x1a\n\0|an HDF5 file: h5py
\x93NUMPY\x01\0v\0{|an array of NumPy: numpy.savetxt()
\x0a\xc7\xb2\xa6\x8a\xcf\x67\x11DUCK\x40\0\0\0\0\0\0\0|a database of DuckDB: `duckdb -csv
PGDMP\x01\x0e\0|a dump of PostgreSQL: `psql
%%PDF-1.7\n%%|a PDF document: `pdftotext FILE -'
\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0|a document of OLE (.xls, .doc): a spreadsheet
Rar!\x1a\x07\x01\0|a RAR archive: run unrar p -inul FILE
\x1f\x9d\x90k\0|compress data: run zcat FILE
\x02\x21\x4c\x18\x0b\0\0\0|lz4 data: run lz4cat FILE
]\0\0\x80\0\xff\xff\xff|lzma data: run xzcat FILE
]\0\0\0\x04\xff\xff\xff|lzma data: run xzcat FILE
LZIP\x01\x0c|lzip data: run lzip -dc FILE
\x89LZO\0\r\n\x1a\n|lzop data: run lzop -dc FILE
\xff\x06\0\0sNaPpY|snappy data: run snzip -dc FILE
PK\x05\x06\0\0\0\0|an empty zip archive: it has no records
SEQ\x06\x19org.apache.hadoop.io.Text|a SequenceFile of Hadoop: `hadoop fs -text FILE'
k\0\0\0001\0\0\0\n\0\0\0|UTF-32 text: run iconv -f UTF-32LE
\0\0\0k\0\0\0001\0\0\0\n|UTF-32 text: run iconv -f UTF-32BE
070701%0104dkeys\0\0|a cpio archive: `cpio -i --to-stdout
070707%070dkeys\0|a cpio archive: `cpio -i --to-stdout
END
}

@test "columns, arrays, databases and documents are refused, also compressed and in pieces" {
  numbers 1 5 >keys
  lanebloom build -o filter keys
  while IFS='|' read -r head kind; do
    { printf "$head"; cat keys; } >file
    gzip -c file >file.gz
    for input in file file.gz; do
      fails_with "$input: expected records, found $kind" lanebloom screen filter $input
      fails_with "$input: expected records, found $kind" lanebloom match $input keys
      fails_with "$input: expected records, found $kind" lanebloom build -o other $input
      fails_with "$input: expected records, found $kind" \
        lanebloom screen --csv --no-header -f 1 filter $input
    done
    fails_with "expected records, found $kind" lanebloom hash < <(dd if=file bs=1 status=none)
    fails_with "expected records, found $kind" lanebloom hash < <(dd if=file.gz bs=1 status=none)
    lanebloom hash --width 1 file >/dev/null # any bytes may be records of fixed width
  done < <(heads)
  [[ ! -e other ]]
}

@test "text that begins as a kind of file does is text, and is answered while the pipe is open" {
  mkfifo pipe
  exec 9<>pipe
  for text in ORC ORCA 'ORC\t1' 'ORC\r' FEA1 FEA1x Obj Obj1 BZh91 PGDMP PGDMP-1 DUCK abcdefghDUCK \
    'abcdefghDUCKxy' Rar %%PDF '\xff\xff' ustar 'a\0b' 'a\0b\0c' '\0a\0b'; do
    printf "$text\n" | lanebloom build -o filter 2>/dev/null
    printf "$text\n" >&9
    printf "$text\n" | cmp - <(timeout 5 "$LANEBLOOM" screen -m 1 filter <&9 2>/dev/null)
    printf "$text\nORD\n$text" | cmp - <(lanebloom match <(printf "$text\nORD\n") \
      <(printf "$text\nORD\n$text") 2>/dev/null | head -c -1)
  done
  for text in 'FEA1\0\0\0\0' 'ORC\0\0\0' 'a\0b\0\n\0c\0d\0'; do # records that end in NUL
    [[ $(printf "$text" | lanebloom match -z -c - <(printf "$text")) == $(printf "$text" |
      tr -cd '\0' | wc -c) ]]
  done
}

@test "UTF-16 without a mark is refused, by its NULs and line ends" {
  numbers 1 1000 >keys
  printf 'é,1\nb,\n' >latin
  printf 'k,l\r\nabc,d\r\n' >crlf.csv
  lanebloom build -o filter keys
  for order in LE BE; do
    for file in keys latin crlf.csv; do
      iconv -f UTF-8 -t UTF-16$order $file >wide
      gzip -c wide >wide.gz
      expected="expected records, found UTF-16 text: run iconv -f UTF-16$order -t UTF-8 FILE"
      for input in wide wide.gz; do
        fails_with "$input: $expected" lanebloom screen filter $input
        fails_with "$input: $expected" lanebloom match $input keys
        fails_with "$input: $expected" lanebloom match keys $input
        fails_with "$input: $expected" lanebloom build -o other $input
        fails_with "$input: $expected" lanebloom screen --csv -f k filter $input
        fails_with "$input: $expected" lanebloom match --keys-csv --keys-field k $input keys
      done
      fails_with "$expected" lanebloom hash < <(cat wide)
      lanebloom hash --width 2 wide >/dev/null
      lanebloom hash -z wide >/dev/null
    done
    iconv -f UTF-16$order -t UTF-8 wide | cmp - crlf.csv
  done
  [[ ! -e other ]]
}

@test "UTF-16 is refused: no key would be found in it" {
  numbers 1 10 >keys
  lanebloom build -o filter keys
  for order in LE BE; do
    (printf '\ufeff' && cat keys) | iconv -f UTF-8 -t UTF-16$order >wide
    fails_with "wide: expected records, found UTF-16 text: run iconv -f UTF-16 -t UTF-8 FILE" \
      lanebloom screen filter wide
    iconv -f UTF-16 -t UTF-8 wide | lanebloom screen filter | cmp - keys
  done
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
