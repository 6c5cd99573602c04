# Inputs that are not records, such as archives, databases and UTF-16. Their first bytes show what
# they are, and the message names a program that makes records of them.
# SPDX-License-Identifier: MIT
load helper

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
  for text in '\37\213' '\50\265' '\50\265\57'; do # two or more bytes of a magic number
    printf "$text" >stump
    fails_with "stump: truncated: expected" lanebloom hash stump
    fails_with "stump: truncated: expected" lanebloom match stump keys
  done
  for text in 'P*' 'X*M'; do # text that begins like a skippable frame of zstd
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
  for byte in '\37' '\50' '\120' '\211'; do # first bytes of compressed formats and of a filter
    printf "$byte" | records 1 --width 1 --decompress=auto
    [[ $(printf "$byte" | lanebloom match --width 1 --decompress=auto -c input) == 1 ]]
  done
}

# The program that is usual for each kind of file makes the file.
@test "archives, databases and programs are refused, as KEYS and as INPUT" {
  numbers 1 5 >keys
  lanebloom build -o filter keys
  tar cf x.tar keys
  tar czf x.tgz keys
  tar --format=v7 -cf x.v7.tar keys # this format has no magic number
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

# heads: prints a row for each kind of file: the file's first bytes, as pyarrow, fastavro, h5py,
# NumPy, duckdb and others write them, and the kind's name in the message.
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
