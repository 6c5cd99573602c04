# lanebloom screen --parquet and tables PARQUET: files of four writers, and what other software
# reads in them (tests/vectors/README.md).
# SPDX-License-Identifier: MIT
load helper

VECTORS=${PARQUET_FILES:-$BATS_TEST_DIRNAME/../vectors/parquet}

# Makes a folder with two Parquet files, one of them in a subfolder, and with files in folders that
# other programs write to or hide.
make_folder() {
  mkdir -p events/day=1/_temporary events/.hidden
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  cp "$VECTORS/parquet_mr.parquet" events/day=1/b.parquet
  cp "$VECTORS/arrow_rs.parquet" events/day=1/_temporary/c.parquet
  cp "$VECTORS/arrow_rs.parquet" events/.hidden/d.parquet
  echo no >events/readme.txt
  chmod -R u+w events
}

# ask COLUMN OPTION...: screens the lines of `keys' against `events'.
ask() {
  local column=$1
  shift
  lanebloom screen --parquet events --column "$column" "$@" keys
}

# Prints the expected output of --which for a file and a column of answers.txt, in hexadecimal: FILE
# <tab> GROUP <tab> KEY <newline>. Keys are records of a fixed width, or lines of hex.
expected() { # FILE COLUMN NAME
  awk -v file="$1" -v column="$2" -v name="$3" '
    function hex_of(text,    i, c, hex) {
      for (i = 1; i <= length(text); i++)
        hex = hex sprintf("%02x", index(ascii, substr(text, i, 1)) + 31)
      return hex
    }
    BEGIN {
      for (i = 32; i < 127; i++)
        ascii = ascii sprintf("%c", i)
      digits = "0123456789abcdef"
    }
    $1 == "F" { here = $2 == file; there = 0 }
    $1 == "C" { there = here && $2 == column; n = split($4, keys, ","); group = 0 }
    $1 == "G" && there {
      for (i = 0; i < n; i++) {
        byte = index(digits, substr($3, 2 * int(i / 8) + 1, 1)) - 1
        byte = 16 * byte + index(digits, substr($3, 2 * int(i / 8) + 2, 1)) - 1
        if (int(byte / 2 ^ (i % 8)) % 2)
          print hex_of(name) "09" hex_of(group) "09" \
            (lines ? hex_of(keys[i + 1]) : keys[i + 1]) "0a"
      }
      group++
    }' lines="$4" "$VECTORS/answers.txt"
}

@test "what may be where is what pyarrow and the definition say, in every type" {
  ncolumns=0
  awk '$1 == "F" { file = $2 } $1 == "C" { print file, $2, $3, $4 }' "$VECTORS/answers.txt" >columns
  while read -r file column encoding keys; do
    name=$VECTORS/$file
    width=$(awk -v keys="$keys" 'BEGIN { n = split(keys, all, ","); w = length(all[1]) / 2
      for (i in all) if (length(all[i]) / 2 != w || all[i] == "-") w = 0; print w }')
    if [[ $encoding == bytes ]]; then
      tr , '\n' <<<"$keys" | sed 's/^-$//' >records
      expected $file $column "$name" 1 | sed 's/092d0a$/090a/' | xxd -r -p >wanted
      lanebloom screen --parquet "$name" --column $column --decode hex --which records >found \
        2>err || [[ $? -eq 1 && ! -s wanted ]]
    else
      tr , '\n' <<<"$keys" | xxd -r -p >records
      expected $file $column "$name" '' | xxd -r -p >wanted
      lanebloom screen --parquet "$name" --column $column --decode none --width $width --which \
        records >found 2>err || [[ $? -eq 1 && ! -s wanted ]]
    fi
    cmp wanted found || { echo "$file: $column"; cat err; return 1; }
    [[ ! -s wanted ]] || ((++ncolumns))
  done <columns
  echo "# $ncolumns columns" >&3
  [[ $ncolumns -gt ${PARQUET_NCOLUMNS:-80} ]]
}

# Bounds of numbers, decimals, dates, times and UUIDs are values, which tables prints as text.
@test "the least and the largest value of a row group are found by their text" {
  nvalues=0
  for name in "$VECTORS"/*.parquet; do
    lanebloom tables --json "$name" | jq -r 'select(.filter_bytes and
      .decode != "bytes") | .column, .row_group, .smallest, .largest' >rows
    while read -r column && read -r group && read -r least && read -r most; do
      for value in $least $most; do
        [[ $value != null ]] || continue
        ((++nvalues))
        lanebloom screen --parquet "$name" --column $column --which <<<"$value" 2>err |
          grep -qF "$name	$group	$value" || { echo "$name $column $value"; cat err; return 1; }
      done
    done <rows
  done
  [[ $nvalues -gt 100 ]]
}

# little NUMBER NBYTES: prints its lowest bytes, little-endian, in hexadecimal.
little() {
  local hex i
  hex=$(printf %016x "$1")
  for ((i = 14; i >= 16 - 2 * $2; i -= 2)); do printf %s "${hex:i:2}"; done
}

# one_value PHYSICAL ANNOTATION VALUE [NULLS [FILTER]]: prints a file whose only column has one
# value. All arguments but the first are hexadecimal: annotation, value, the count of nulls, and the
# filter with its header.
one_value() {
  local physical length size footer field=${4:+2} # the bound's field, relative to the last one
  field=${field:-5}
  physical=$(printf %02x $((2 * $1)))
  length=$(printf %02x ${#3})
  size=$(printf %02x $((${#3} / 2)))
  footer=1504192c4804726f6f7415020015${physical}15${length}28016b${2}00
  footer+=1602191c191c26081c15${physical}
  footer+=2918016b2602260026083c${4:+36$4}${field}8${size}${3}18${size}${3}00${5:+2608}00002602
  footer+=00391c1c000000
  xxd -r -p <<<"50415231${5-}$footer$(little $((${#footer} / 2)) 4)50415231"
}

@test "the least and the largest numbers, dates and times are bounds as text" {
  local date=250c ms=2512 us=2514 ns=6c8c121c3c00000000 n=100
  mkdir bounds
  while read -r physical annotation value text; do
    one_value "$physical" "${annotation#-}" "$value" >bounds/$((n++)).parquet
    echo "$text" >>wanted
  done <<END
1 - $(little -2147483648 4) -2147483648
1 - $(little 2147483647 4) 2147483647
1 251a $(little -1 4) 4294967295
1 250e $(little -2147483648 4) -2147483648
1 250e $(little -1 4) -1
1 250e $(little 0 4) 00:00:00.000
1 250e $(little 86399999 4) 23:59:59.999
1 250e $(little 86400000 4) 86400000
1 250a1500150a $(little -2147483648 4) -2147483648
1 250a15041512 $(little -5 4) -0.05
1 250a15041512 $(little 0 4) 0.00
1 250a15041512 $(little 2147483647 4) 21474836.47
1 2516 $(little 200 4) 200
1 2520 $(little -32768 4) -32768
1 $date $(little 0 4) 1970-01-01
1 $date $(little -1 4) 1969-12-31
1 $date $(little -719162 4) 0001-01-01
1 $date $(little -719163 4) -719163
1 $date $(little 2932896 4) 9999-12-31
1 $date $(little 2932897 4) 2932897
1 $date $(little -2147483648 4) -2147483648
1 $date $(little 2147483647 4) 2147483647
2 - $(little -9223372036854775808 8) -9223372036854775808
2 - $(little 9223372036854775807 8) 9223372036854775807
2 251c $(little -1 8) 18446744073709551615
2 2510 $(little -9223372036854775808 8) -9223372036854775808
2 2510 $(little 45000000001 8) 12:30:00.000001
2 2510 $(little 9223372036854775807 8) 9223372036854775807
2 6c7c121c3c00000000 $(little 86399999999999 8) 23:59:59.999999999
2 250a15001516 $(little -9223372036854775808 8) -9223372036854775808
2 250a15241524 $(little -9223372036854775808 8) -9.223372036854775808
2 250a15241524 $(little 7 8) 0.000000000000000007
2 $ms $(little -1 8) 1969-12-31T23:59:59.999Z
2 $ms $(little -62135596800000 8) 0001-01-01T00:00:00.000Z
2 $ms $(little -62135596800001 8) -62135596800001
2 $ms $(little 253402300799999 8) 9999-12-31T23:59:59.999Z
2 $ms $(little 253402300800000 8) 253402300800000
2 $ms $(little -9223372036854775808 8) -9223372036854775808
2 $ms $(little 9223372036854775807 8) 9223372036854775807
2 $us $(little -1 8) 1969-12-31T23:59:59.999999Z
2 $us $(little -9223372036854775808 8) -9223372036854775808
2 $us $(little 9223372036854775807 8) 9223372036854775807
2 $ns $(little -1 8) 1969-12-31T23:59:59.999999999Z
2 $ns $(little -9223372036854775808 8) 1677-09-21T00:12:43.145224192Z
2 $ns $(little 9223372036854775807 8) 2262-04-11T23:47:16.854775807Z
3 - ffffffffffffffffffffffff -
4 - 0000c07f -
4 - 000080ff -inf
5 - ffffffffffffef7f 1.7976931348623157e+308
5 - ffffffffffffffff -
6 - 6162 ab
7 - 6162 0x6162
7 - 80000000000000000000000000000001 0x80000000000000000000000000000001
7 6cfc0000 0080 -
7 6cec0000 123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-426614174000
7 250a1500150a 8000000000000000 -9223372036854775808
7 250a15041504 ff -0.01
7 250a15041504 80 -1.28
7 250a1514154c 80000000000000000000000000000000 -17014118346046923173168730371.5884105728
7 250a1500154c 7fffffffffffffffffffffffffffffff 170141183460469231731687303715884105727
7 250a159801159801 $(printf %062d 0)ff 0.$(printf %073d 0)255
7 250a159801159801 $(printf %064d 0 | tr 0 f) -0.$(printf %075d 0)1
7 250a1500159801 80$(printf %062d 0) $(python3 -c 'print(-2 ** 255)')
END
  lanebloom tables --bounds=all --no-header bounds >found
  awk '{ print $10 }' found | diff wanted -
  awk '{ print $11 }' found | diff wanted -
  lanebloom tables --bounds=all --json bounds | jq -r '.smallest // "-"' | diff wanted -
  one_value 6 '' 00ff200a >bytes.parquet # as one word; JSON has the bytes in hexadecimal
  lanebloom tables --bounds=all --no-header bytes.parquet | awk '{ print $10 }' >word
  [[ $(<word) == '\000\377\040\012' ]]
  lanebloom tables --bounds=all --json bytes.parquet |
    jq -e '.smallest == null and .smallest_hex == "00ff200a"'
}

# For each text there is a file, whose filter has one value: these nanoseconds of this Julian day.
@test "timestamps of INT96: each year, to the nanosecond" {
  local n=0 header=15401c1c00001c1c00001c1c000000
  mkdir int96
  while IFS=, read -r text ns day; do
    value=$(little "$ns" 8)$(little "$day" 4)
    lanebloom build --format parquet --decode hex -o filter.lbf <<<"$value"
    filter=$header$(tail -c 32 filter.lbf | xxd -p -c 32)
    one_value 3 '' "$value" '' "$filter" >int96/$((++n)).parquet
    echo "$text" >>texts
    printf 'int96/%d.parquet\t0\t%s\n' $n "$text" >>wanted
  done <<END
0001-01-01,0,1721426
0001-01-01 00:00+00:01,86340000000000,1721425
1582-10-14T23:59:59.999999999,86399999999999,2299160
1582-10-15,0,2299161
1677-09-21T00:12:43.145224191Z,763145224191,2333836
1677-09-21T00:12:43.145224192Z,763145224192,2333836
1969-12-31 23:59:59.999999999,86399999999999,2440587
2024-02-29 12:34:56.789012345+01:00,41696789012345,2460370
2262-04-11T23:47:16.854775807,85636854775807,2547339
2262-04-11T23:47:16.854775808,85636854775808,2547339
2263-01-01,0,2547604
9999-12-31 00:00:00,0,5373484
9999-12-31T23:59:59.999999999,86399999999999,5373484
9999-12-31T23:59:59.9999999-23:59,86339999999900,5373485
END
  lanebloom screen --parquet int96 --column k --which texts | diff <(sort wanted) <(sort -)
  for text in 0000-12-31 10000-01-01 2024-02-30 '2024-02-29 12:34:56.1234567891'; do
    fails_with 'expected a time, as 2024-02-29T12:34:56.789012345Z, found' \
      lanebloom screen --parquet int96 --column k <(echo "$text")
  done
}

@test "timestamps of INT96: years that nanoseconds of 64 bits do not hold" {
  printf '%s\n' 0001-01-01 1582-10-04 1582-10-15T12:00Z '1677-09-21 00:12:43.145224' \
    '2262-04-11 23:47:16.854776' 2263-01-01 9999-12-31 9999-12-31T23:59:59.999999Z >there
  printf '%s\n' 0001-01-02 1582-10-05 1677-09-20 2263-01-02 9999-12-30 >absent
  run -0 lanebloom screen --parquet "$VECTORS/pyarrow_int96_years.parquet" --column time there
  diff there - <<<"$output"
  run -0 lanebloom screen --parquet "$VECTORS/pyarrow_int96_years.parquet" --column time -v \
    <(cat there absent)
  diff absent - <<<"$output"
}

@test "records are selected as with any filter" {
  make_folder
  printf 'note,key\n"a ""b""",key 1\n\nx,absent\ny,key 40\n' >keys.csv
  screen() { lanebloom screen --parquet events --column text --csv -f key "$@" keys.csv; }
  screen --missing=drop 2>err >found || cat err
  holds found 'note,key\n"a ""b""",key 1\ny,key 40\n'
  screen --missing=drop -v 2>/dev/null | cmp - <(printf 'note,key\nx,absent\n')
  screen --missing=keep 2>/dev/null | cmp - <(printf 'note,key\n"a ""b""",key 1\n\ny,key 40\n')
  [[ $(screen --missing=drop -c 2>/dev/null) == 2 ]]
  [[ $(screen --missing=drop -c -v 2>/dev/null) == 1 ]]
  screen --missing=drop --annotate=there 2>/dev/null |
    cmp - <(printf 'note,key,there\n"a ""b""",key 1,1\nx,absent,0\ny,key 40,1\n')
  screen --missing=drop -m 1 2>/dev/null | cmp - <(printf 'note,key\n"a ""b""",key 1\n')
  screen --missing=drop -o out --unmatched rest 2>/dev/null
  holds out 'note,key\n"a ""b""",key 1\ny,key 40\n'
  holds rest 'note,key\nx,absent\n'
  screen --missing=drop -n 2>/dev/null | cmp - <(printf 'note,key\n1:"a ""b""",key 1\n4:y,key 40\n')
  printf 'absent\n' >keys
  run -1 --separate-stderr ask text
  [[ -z $output ]]
  run -1 --separate-stderr ask text -q
  run -0 --separate-stderr ask text -q -v
  [[ -z $output ]]
  printf '\tno key\n' >keys
  run -0 --separate-stderr ask text -q -f 3 --missing=keep
  run -0 --separate-stderr ask text -q -v -f 3 --missing=keep
  run -1 --separate-stderr ask text -q -f 3 --missing=drop
  run -1 --separate-stderr ask text -q -v -f 3 --missing=drop
  printf 'absent\n' >keys
  printf 'key 1\n' >>keys
  run -0 --separate-stderr ask text -q
  [[ -z $output ]]
  : >keys
  run -1 --separate-stderr ask text
}

# The records fill many reads, and are cut again to be printed.
@test "more records than are read at once" {
  make_folder
  seq -f 'other %.0f' 100000 | sed '77777s/.*/key 7/' >keys
  [[ $(ask text) == "key 7" ]]
  [[ $(ask text -n) == "77777:key 7" ]]
  [[ $(ask text -v | wc -l) -eq 99999 ]]
  [[ $(ask text --which -c | awk '{ n += $3 } END { print n }') -eq 2 ]]
  ask text -j 1 --which >one
  ask text -j 7 --which | cmp - one
  holds one 'events/a.parquet\t0\tkey 7\nevents/day=1/b.parquet\t0\tkey 7\n'
}

@test "--prune names the files, and --row-groups where in them" {
  make_folder
  echo 'key 30' >keys
  ask text --prune >names
  holds names 'events/a.parquet\nevents/day=1/b.parquet\n'
  ask text --prune --row-groups >names
  holds names 'events/a.parquet\t1\nevents/day=1/b.parquet\t1\n'
  [[ $(ask text --prune -c) == 2 && $(ask text --prune --row-groups -c) == 2 ]]
  printf 'key 30\0' >keys
  ask text --prune -z >names
  holds names 'events/a.parquet\0events/day=1/b.parquet\0'
  echo absent >keys
  run -1 --separate-stderr ask text --prune
  [[ -z $output && -z $stderr ]]
  mv events/a.parquet $'events/a\nb.parquet'
  echo 'key 30' >keys
  fails_with 'a name without a line end' ask text --prune
}

@test "names within a file are escaped in messages" {
  name=$'\e[7m' # as long as the column's name
  LC_ALL=C sed "s/text/$name/g" "$VECTORS/arrow_rs.parquet" >red.parquet
  echo 'key 30' >keys
  fails_with '; the file has \033[7m,' lanebloom screen --parquet red.parquet --column text keys
  run -2 --separate-stderr lanebloom screen --parquet red.parquet --column "$name" \
    --decode int32 keys
  is_message 'found column \033[7m of type'
  lanebloom screen --parquet red.parquet --column $name -c keys 2>err || true
  lanebloom tables red.parquet >>err
  run -1 grep $'\e' err
}

# As ls and find do.
@test "--prune prints names as they are, on a terminal escaped" {
  name=$'red\e[7m.parquet'
  cp "$VECTORS/arrow_rs.parquet" "$name"
  echo 'key 30' >keys
  prune=("$LANEBLOOM" screen --parquet "$name" --column text --prune keys)
  [[ $("${prune[@]}") == "$name" ]]
  needs_terminal
  for output in "" "-o -" "-o /dev/tty"; do
    on_terminal "${prune[@]}" $output
    grep -qF 'red\033[7m.parquet' terminal
    run -1 grep $'\e' terminal
  done
}

@test "files are named by folders, by patterns and by name, each once" {
  make_folder
  echo 'key 7' >keys
  cp events/a.parquet events/_e.parquet
  names() { lanebloom screen --column text --prune "$@" keys; }
  [[ $(names --parquet events/a.parquet --parquet events) == \
    $'events/a.parquet\nevents/day=1/b.parquet' ]]
  [[ $(names --parquet 'events/*.parquet' --parquet 'events/day=*') == \
    $'events/_e.parquet\nevents/a.parquet\nevents/day=1/b.parquet' ]]
  [[ $(names --parquet events/.hidden/d.parquet) == events/.hidden/d.parquet ]]
  mkdir empty
  fails_with 'expected a folder with Parquet files, found none' names --parquet empty
  fails_with 'found none of this name' names --parquet 'events/*.parq'
  fails_with 'found none of this name' names --parquet nowhere
  ln -s .. events/day=1/up # a folder that contains itself
  [[ $(names --parquet events | wc -l) == 2 ]]
}

# skips NAME: a file of this name in a folder is not read, but is not ignored silently.
skips() {
  local name=$1 options
  rm -rf events
  mkdir -p events/day=1
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  mv hidden "events/$name"
  printf 'absent\n' >keys
  run -1 --separate-stderr ask text
  [[ $stderr == "lanebloom: events/$name: warning: this Parquet file is not read, because"* ]]
  for options in -v "-c -v" -q "-q -v" "--annotate" "-o out --unmatched rest"; do
    echo old >out
    run -2 --separate-stderr ask text $options
    [[ $stderr == *"events/$name: warning: "* ]]
    holds out 'old\n'
  done
  run -2 --separate-stderr ask text -v
  [[ $output == absent ]]
  run -0 --separate-stderr lanebloom tables events
  [[ $stderr == *"events/$name: warning: "* && $output != *"$name"* ]]
  run -2 --separate-stderr ask text -v --summary=json
  jq -e '.parquet.files == 1 and .parquet.skipped_files == 1' <<<"${stderr_lines[-1]}"
  ask text --parquet "events/$name" --prune 2>err || true # named explicitly
  run -1 grep warning err
  printf 'absent\nkey 7\n' >keys
  run -0 --separate-stderr ask text -q # the key is found, whatever the skipped file has
  [[ $stderr == *"events/$name: warning: "* ]]
}

@test "Parquet files of hidden names are skipped with a warning" {
  cp "$VECTORS/arrow_rs.parquet" hidden
  skips _part.parquet
  cp "$VECTORS/arrow_rs.parquet" hidden
  skips .x.parquet
  cp "$VECTORS/arrow_rs.parquet" hidden
  skips day=1/_000000
  head -c 1000 "$VECTORS/arrow_rs.parquet" >hidden # still being written
  skips .part.parquet.tmp
  tail -c 1000 "$VECTORS/arrow_rs.parquet" >hidden
  skips _torn
  printf 'PARE....PARE' >hidden
  skips _encrypted
  gzip -c "$VECTORS/arrow_rs.parquet" >hidden
  skips _part.parquet.gz
}

@test "what hidden names stand for by convention is no data, without a warning" {
  mkdir -p events/{_temporary/0,.hive-staging_1,_delta_log,_day=1}
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  for name in _metadata _common_metadata _temporary/0/b.parquet .hive-staging_1/c.parquet \
    _delta_log/1.checkpoint.parquet _day=1/d.parquet; do
    cp "$VECTORS/arrow_rs.parquet" events/$name
  done
  : >events/_SUCCESS
  printf 'crc\0....' >events/.a.parquet.crc
  md5sum events/a.parquet >events/a.parquet.md5
  gzip -c events/a.parquet.md5 >events/a.md5.gz
  for name in begin.csv _begin.csv; do echo PARENT >events/$name; done
  for name in end.txt _end.txt; do printf COMPARE >events/$name; done
  mkfifo events/_pipe events/pipe
  ln -s nowhere events/_link
  ln -s nowhere events/link
  ln -s link events/.#lock
  printf 'key 7\nabsent\n' >keys
  timeout 5 "$LANEBLOOM" screen --parquet events --column text --prune keys >names 2>err
  holds names 'events/_day=1/d.parquet\nevents/a.parquet\n'
  holds err ''
  run -0 --separate-stderr ask text -v
  [[ $output == absent && -z $stderr ]]
}

@test "several hidden files have one warning, with their number" {
  make_folder
  cp events/a.parquet events/_e.parquet
  cp events/a.parquet events/.f.parquet
  cp events/a.parquet events/day=1/_g.parquet
  echo absent >keys
  run -1 --separate-stderr ask text --parquet events/day=1 # a folder that is named twice
  is_message 'events/.f.parquet: warning: this Parquet file is not read (and 2 more), because'
  run -1 --separate-stderr ask text --parquet events/.f.parquet
  is_message 'events/_e.parquet: warning: this Parquet file is not read (and 1 more), because'
}

# A key must not be lost because a file that may hold it could not be read.
@test "in folders, damaged files of any name may have every key" {
  printf 'key 7\nabsent\n' >keys
  spoil() { # NAME MESSAGE: makes the file with `damage`
    rm -rf events
    mkdir events
    cp "$VECTORS/arrow_rs.parquet" events/a.parquet
    damage "events/$1"
    run -2 --separate-stderr ask text
    [[ $output == $'key 7\nabsent' && $stderr == "lanebloom: events/$1: "*"$2"* ]]
    run -2 --separate-stderr ask text -v
    [[ -z $output ]]
    run -2 --separate-stderr lanebloom tables events
    [[ $stderr == "lanebloom: events/$1: "*"$2"* ]]
  }
  damage() { head -c 3000 "$VECTORS/arrow_rs.parquet" >"$1"; }
  spoil 000000_0 'expected "PAR1" in the last 4 bytes'
  damage() { printf 'PARE....PARE' >"$1"; }
  spoil b.parq 'encrypted'
  damage() { ln -s nowhere "$1"; }
  spoil b.parquet 'No such file'
  damage() { gzip -c "$VECTORS/arrow_rs.parquet" >"$1"; }
  spoil b.parquet.gz 'expected "PAR1" in the last 4 bytes'
  damage() { xz -c "$VECTORS/arrow_rs.parquet" >"$1"; }
  spoil b.parquet.xz 'expected "PAR1" in the last 4 bytes'
  damage() { ln -s "${1##*/}" "$1"; }
  spoil loop 'Too many levels of symbolic links'
  { printf '\0\0\0\0'; tail -c +5 "$VECTORS/arrow_rs.parquet"; } >events/loop2
  rm events/loop
  [[ $(ask text --prune) == $'events/a.parquet\nevents/loop2' ]] # readers only check the end
}

@test "in folders, files that nobody may read may have every key" {
  mkdir events
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  echo secret >events/notes
  chmod 0 events/notes
  echo absent >keys
  ask() { "${unprivileged[@]}" "$LANEBLOOM" screen --parquet events --column text "$@" keys; }
  run -2 --separate-stderr ask
  [[ $output == absent && $stderr == "lanebloom: events/notes: Permission denied" ]]
  mv events/notes events/_notes
  run -1 --separate-stderr ask
  [[ $stderr == "lanebloom: events/_notes: warning: "* ]]
  run -2 --separate-stderr ask -v
}

# A key must not be lost because a file that may hold it could not be read.
@test "a damaged file may have every key" {
  make_folder
  printf 'key 7\nabsent\n' >keys
  head -c 3000 events/a.parquet >cut
  mv cut events/a.parquet
  run -2 --separate-stderr ask text --prune
  [[ $output == $'events/a.parquet\nevents/day=1/b.parquet' && $stderr == *"events/a.parquet: "* ]]
  run -2 --separate-stderr ask text --prune --row-groups
  [[ $output == $'events/a.parquet\t*\nevents/day=1/b.parquet\t0' ]]
  run -2 --separate-stderr ask text
  [[ $output == $'key 7\nabsent' ]]
  run -2 --separate-stderr ask text -v
  [[ -z $output ]]
  run -2 --separate-stderr ask text -c
  [[ $output == 2 ]]
  run -2 --separate-stderr ask text --which --summary
  [[ $stderr == *" 2 records, 2 selected,"* ]]
  echo old >out
  run -2 --separate-stderr ask text -o out
  holds out 'old\n'
  run -2 --separate-stderr ask text --summary=json
  jq -e '.parquet.files == 2 and .parquet.failed_files == 1 and .parquet.keys == 2' \
    <<<"${stderr_lines[-1]}"
}

@test "a damaged filter: its row group may have every key" {
  make_folder
  offset=$(lanebloom tables --json events/a.parquet |
    jq 'select(.column == "text" and .row_group == 1).filter_offset')
  printf '\377' | dd of=events/a.parquet bs=1 seek="$offset" conv=notrunc status=none
  echo 'key 3' >keys
  run -2 --separate-stderr ask text --prune --row-groups
  [[ $output == $'events/a.parquet\t0\nevents/a.parquet\t1\nevents/day=1/b.parquet\t0'* ]]
  [[ $stderr == *"events/a.parquet: row group 1: "* ]]
  run -2 --separate-stderr lanebloom tables events/a.parquet
  [[ $stderr == *"row group 1: column text: "* ]]
}

# patch FILE OFFSET BYTES: writes the bytes there.
patch() {
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "filters of another kind are like none, with a warning" {
  mkdir events
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  chmod u+w events/a.parquet
  offset=$(lanebloom tables --json events/a.parquet |
    jq 'select(.column == "text" and .row_group == 1).filter_offset')
  patch events/a.parquet $((offset + 2)) '\x2c' # the next field is the hash: no algorithm
  echo absent >keys
  run -0 --separate-stderr ask text --bounds=none
  [[ $output == absent ]]
  [[ $stderr == *"warning: 1 of 2 row groups have no filter of column text"* ]]
  run -0 --separate-stderr lanebloom tables events/a.parquet
  [[ $stderr == "lanebloom: events/a.parquet: warning: row group 1: column text: the filter's "* ]]
  [[ $stderr == *"expected 1 (split blocks), found 0" ]]
  awk '$2 == 1 && $3 == "text" { print $7 }' <<<"$output" | diff - <(echo -)
}

# A negative count is unknown, and has no effect on the rest of the file.
@test "negative counts of nulls: the file is read" {
  for count in 01 03 09 ffffffffffffffffff01; do # -1, -2, -5, and the least
    one_value 1 - "$(little 5 4)" $count >a.parquet
    lanebloom tables --bounds=all a.parquet 2>err >found
    holds err ''
    awk 'NR == 2 { print $6 }' found | diff - <(echo -)
    run -0 --separate-stderr lanebloom screen --parquet a.parquet --column k <(echo 5)
    [[ $output == 5 ]]
  done
}

@test "row groups without filters are counted, or refused" {
  mkdir events
  cp "$VECTORS"/{arrow_rs,pyarrow_without_filters}.parquet events
  echo 'key 7' >keys
  ask text --prune >names 2>err
  [[ $(<err) == *"warning: 2 of 4 row groups have no filter of column text that can be used: "* ]]
  [[ $(<err) == *"; the first is in events/pyarrow_without_filters.parquet" ]]
  [[ $(wc -l <names) == 2 ]]
  fails_with 'filters.parquet: expected a filter of column text in every row group' \
    ask text --prune --require-filters
}

# Bounds that are not used rule nothing out.
@test "row groups without filters: the warning says whether bounds are used" {
  mkdir events
  without=$VECTORS/pyarrow_without_filters.parquet
  cp "$without" events/a.parquet
  echo 'key 7' >keys
  warns() { # TEXT
    lanebloom screen --parquet events --column text --prune "${@:2}" keys 2>err >names || true
    grep -qF "filter of column text that can be used: $1; the first is in events/a.parquet" err ||
      { cat err; return 1; }
  }
  warns 'every key within their bounds may be there'
  warns 'every key may be in 2 of them, whose bounds are missing or not used' --bounds=none
  LC_ALL=C sed 's/parquet-cpp-arrow/parquet-cpp-error/' "$without" >events/b.parquet
  warns 'every key may be in 2 of them, whose bounds are missing or not used'
  warns 'every key within their bounds may be there' --bounds=all
}

@test "columns, types and keys that do not fit" {
  make_folder
  echo 5 >keys
  fails_with 'expected one column "txt", found none; the file has text, ' ask txt
  fails_with 'cannot hold this key' lanebloom screen --parquet events --column int8 <(echo 300)
  fails_with 'column 1: expected a whole number' lanebloom screen --parquet events --column int32 \
    <(echo 7x)
  fails_with 'line 2: column 1: expected a date' lanebloom screen --parquet events --column date \
    <(printf '2024-02-29\n2023-02-29\n')
  fails_with 'expected a column of int64, as --decode says, found column int32 of type int32' \
    ask int32 --decode int64
  fails_with 'expected one field as the key' lanebloom screen --parquet events --column int32 \
    -f 1,2 <(printf '1\t2\n')
  fails_with 'a column whose values can be keys' lanebloom screen --parquet \
    "$VECTORS/pyarrow.parquet" --column flag <(echo 1)
  # a column of this name with another type
  cp "$VECTORS/duckdb.parquet" events/c.parquet
  run -2 --separate-stderr lanebloom screen --parquet events --column decimal18 --prune <(echo 1.5)
  [[ $status -eq 2 ]]
}

# docs/parquet.md: a path names a column, a JSON pointer names a member.
@test "keys of nested columns may be members of nested objects" {
  name=$VECTORS/arrow_rs.parquet
  id=$(lanebloom tables --json "$name" | jq -r 'select(.column == "user.id").smallest' | head -1)
  printf '{"user": {"id": %d}}\n{"user": {"id": 5}}\n' "$id" >keys
  run --separate-stderr lanebloom hash --jsonl -f a /dev/null
  [[ $stderr != *"without simdjson"* ]] || skip "this build has no simdjson"
  lanebloom screen --parquet "$name" --column user.id --jsonl -f /user/id keys >found
  holds found "{\"user\": {\"id\": $id}}\n"
  fails_with "user.id" lanebloom screen --parquet "$name" --column user.id --jsonl -f user.id keys
}

@test "decimals have the scale of their column" {
  run -0 --separate-stderr lanebloom screen --parquet "$VECTORS/duckdb.parquet" --column decimal9 \
    --which <(printf '10.50\n-89.5\n10.51\n')
  [[ $output == *$'\t10.50\n'*$'\t-89.5'* && $output != *10.51* ]]
  fails_with 'that needs no rounding, found' lanebloom screen --parquet "$VECTORS/duckdb.parquet" \
    --column decimal9 <(echo 1.005)
}

# finds PHYSICAL ANNOTATION VALUE TEXT...: each text is found as the column's only value.
finds() {
  local text
  one_value "$1" "${2#-}" "$3" >one.parquet
  for text in "${@:4}"; do
    lanebloom screen --parquet one.parquet --bounds=all --column k <(echo "$text") >found 2>err ||
      { echo "$text"; cat err; return 1; }
    [[ $(<found) == "$text" ]] || { echo "$text"; return 1; }
  done
}

# refuses_keys PHYSICAL ANNOTATION MESSAGE TEXT...: each text is refused with this message.
refuses_keys() {
  local text
  one_value "$1" "${2#-}" "$(little 5 $((4 * $1)))" >one.parquet
  for text in "${@:4}"; do
    fails_with "$3" timeout 5 "$LANEBLOOM" screen --parquet one.parquet --bounds=all --column k \
      <(echo "$text")
    [[ $(lanebloom screen --parquet one.parquet --column k --missing=drop -c 2>/dev/null \
      <(echo "$text")) == 0 ]]
  done
}

@test "keys that are written in another way are found where they are exact" {
  local two_places=250a15041512 ns=6c7c121c3c00000000
  finds 1 - "$(little 500 4)" 500 500.0 5e2 5E+2 .5e3 50000e-2 +500
  finds 2 - "$(little -500 8)" -500 -500.00 -5e2
  finds 1 251a "$(little 4000000000 4)" 4e9 4000000000.0 # uint32
  finds 1 $two_places "$(little 10000 4)" 100 1e2 100.00 10000e-2 100.000
  finds 1 $two_places "$(little -5 4)" -0.05 -5e-2 -.05
  finds 1 250e "$(little 45000000 4)" 12:30:00 12:30 12:30:00.000 12:30:00.0000000 45000000 45e6
  finds 1 250e "$(little 45000250 4)" 12:30:00.25 12:30:00.250
  finds 2 2510 "$(little 86399999999 8)" 23:59:59.999999 23:59:59.999999000
  finds 2 $ns "$(little 1 8)" 00:00:00.000000001 1 1.0
  finds 2 $ns "$(little 0 8)" 00:00 00:00:00 0
  whole='expected a whole number from -2147483648 to 2147483647, found'
  refuses_keys 1 - "$whole" 5.5 1e-1 0.1 1e 5.0x 1e10 1e999999999 1e-999999999 12:30
  refuses_keys 1 $two_places 'that needs no rounding, found' 0.005 1e-3 1e999999999 5,0
  time="expected a time of day, as 12:34:56.789, or a whole number from -2147483648"
  refuses_keys 1 250e "$time" 12: :30 24:00:00 12:60 12:30:60 12:30:00.0001 12:30:00. 12:30Z 1:30 \
    12:30:00+01:00
}

# Keys are converted to the unit of the first file's column.
@test "times of other units, and numbers, are other types" {
  mkdir events
  echo 00:00:00.005 >keys
  one_value 2 2510 "$(little 5000 8)" >events/a.parquet
  for file in "2 6c7c121c3c00000000" "2 -" "1 250e"; do
    one_value ${file% *} "$(sed 's/^-$//' <<<"${file#* }")" "$(little 5 8)" >events/b.parquet
    run -2 --separate-stderr ask k --bounds=all -v
    [[ -z $output && $stderr == *"events/b.parquet: "*"expected a column of type time-us, "* ]]
  done
}

@test "what makes no sense is refused" {
  make_folder
  refuses '--parquet needs --column NAME' lanebloom screen --parquet events keys
  refuses 'need --parquet PATH' lanebloom screen --column a keys
  refuses 'need --parquet PATH' lanebloom screen --prune keys
  refuses '--row-groups needs --prune' lanebloom screen --parquet a --column b --row-groups
  refuses 'give only one of --filter' lanebloom screen --parquet a --column b --db c
  refuses 'give only one of --filter' lanebloom screen --parquet a --column b --filter c
  refuses 'give only one of --prune and --which' lanebloom screen --parquet a --column b --prune \
    --which
  refuses 'give only one of --prune and --invert-match' lanebloom screen --parquet a --column b \
    --prune -v
  refuses 'apply to records' lanebloom screen --parquet a --column b --prune -n
  refuses 'apply to records' lanebloom screen --parquet a --column b --which -m 1
  refuses '--raw and --format describe a FILTER' lanebloom screen --parquet a --column b --raw \
    --format leveldb
  refuses 'need --db PATH' lanebloom screen --parquet a --column b --all-files
  fails_with 'found a Parquet file: `lanebloom screen --parquet' lanebloom screen --parquet events \
    --column text events/a.parquet
  fails_with 'found a Parquet file: `lanebloom screen --parquet' lanebloom hash events/a.parquet
  echo 'key 7' >keys
  fails_with 'input file is also the output' lanebloom screen --parquet events --column text \
    -o events/a.parquet keys
  cmp events/a.parquet "$VECTORS/arrow_rs.parquet"
}

@test "tables: files and folders, in text and JSON" {
  make_folder
  lanebloom tables events >text
  [[ $(grep -c '^events/a.parquet ' text) -gt 20 && $(head -1 text) == "FILE GROUP COLUMN "* ]]
  ! grep -q '_temporary\|hidden' text
  lanebloom tables --no-header events | cmp - <(tail -n +2 text)
  lanebloom tables --json events/a.parquet |
    jq -e -s 'map(select(.column == "text"))[0] | .rows == 24 and .nulls == 0 and
      .filter_bytes == 32 and .type == "string" and .keys_estimate == 24'
  fails_with 'found both' lanebloom tables events/a.parquet \
    "$VECTORS/../tables/leveldb_bloom10.ldb"
  fails_with 'apply to databases' lanebloom tables --all-files events
}

@test "tables --summary: a line per column is the sum of its row groups" {
  mkdir events
  cp "$VECTORS"/{arrow_rs,duckdb,parquet_mr,pyarrow,pyarrow_without_filters}.parquet events
  lanebloom tables --json events | jq -cS -s 'group_by([.column, .type])[] | {column: .[0].column,
    type: .[0].type, files: (map(.file) | unique | length), row_groups: length,
    rows: (map(.rows) | add),
    nulls: (if any(.nulls == null) then null else (map(.nulls) | add) end),
    filters: (map(select(.filter_bytes)) | length), filter_bytes: (map(.filter_bytes) | add),
    keys_estimate: (map(.keys_estimate) | add),
    bounds: (map(.bounds) | unique - ["-"])}' >wanted
  lanebloom tables --summary --json events >found
  jq -cS -s 'sort_by([.column, .type])[] | .bounds |= sort |
    del(.bits_per_key, .model_rate)' found | diff wanted -
  jq -e -s 'all(if .filters == 0 then .bits_per_key == null and .model_rate == null
    elif .keys_estimate > 0 then .model_rate < 1 and
      (.bits_per_key - 8 * .filter_bytes / .keys_estimate | fabs) < 1e-9
    else .bits_per_key == null end)' found
  lanebloom tables --summary events >text
  [[ $(head -1 text) == "COLUMN "*" BOUNDS" && $(wc -l <text) -eq $(($(wc -l <found) + 1)) ]]
  lanebloom tables --summary --no-header events | cmp - <(tail -n +2 text)
  awk '$1 == "text" { print $3, $4, $7, $12 }' text | diff - <(echo 5 10 8 used)
  lanebloom tables --summary --bounds=none events | awk '$1 == "text" { print $12 }' >word
  holds word 'not-asked-for\n'
  fails_with 'expected Parquet files, which --summary adds up' lanebloom tables --summary \
    "$VECTORS/../tables/leveldb_bloom10.ldb"
}

@test "tables: damaged filters of a column have one message, with their number" {
  make_folder
  lanebloom tables --json events | jq -r 'select(.column == "text") | .file, .filter_offset' >rows
  while read -r file && read -r offset; do
    patch "$file" "$offset" '\xff'
  done <rows
  for option in --json --summary; do
    run -2 --separate-stderr lanebloom tables $option events
    [[ ${#stderr_lines[@]} -eq 1 ]]
    [[ $stderr == "lanebloom: events/a.parquet: row group 0: column text: "*" (and 3 more of "* ]]
  done
  awk '$1 == "text" { print $4, $7, $8 }' <<<"$output" | diff - <(echo 4 0 -)
}

# The writer's name is changed, and no byte of the statistics.
@test "bounds of writers that are not known say nothing, unless they are asked for" {
  cp "$VECTORS/pyarrow_without_filters.parquet" known.parquet
  LC_ALL=C sed 's/parquet-cpp-arrow/parquet-cpp-error/' known.parquet >other.parquet
  seq 1 10 >keys # below all values
  absent() { # FILE OPTION...: how many keys are ruled out
    lanebloom screen --parquet "$1" --column uint32 -v -c "${@:2}" keys 2>err || [[ $? == 1 ]]
  }
  [[ $(absent known.parquet) == 10 && $(absent known.parquet --bounds=none) == 0 ]]
  [[ $(absent other.parquet) == 0 && $(absent other.parquet --bounds=all) == 10 ]]
  bounds() { lanebloom tables --json "$@" | jq -r 'select(.column == "uint32").bounds' | uniq; }
  [[ $(bounds known.parquet) == used && $(bounds other.parquet) == writer-untried ]]
  [[ $(bounds --bounds=all other.parquet) == used ]]
  [[ $(bounds --bounds=none known.parquet) == not-asked-for ]]
  lanebloom tables other.parquet | awk '$3 == "uint32" { print $NF }' | uniq >word
  holds word 'writer-untried\n'
  refuses "--bounds: expected known, all or none, found 'some'" lanebloom tables --bounds=some x
  refuses "need --parquet" lanebloom screen --bounds=all filter keys
}

@test "Parquet files of other names are read, too" {
  mkdir events
  for name in 000000_0 B.PARQUET c.parq; do
    cp "$VECTORS/arrow_rs.parquet" events/$name
  done
  echo 'a,b' >events/notes.csv
  echo 'key 7' >keys
  lanebloom screen --column text --parquet events --prune keys >names
  holds names 'events/000000_0\nevents/B.PARQUET\nevents/c.parq\n'
  { printf '\0\0\0\0'; tail -c +5 "$VECTORS/arrow_rs.parquet"; } >torn # readers only check the end
  [[ $(lanebloom tables torn | wc -l) -gt 20 ]]
}

# Neither memory nor open files grow with the number of files.
@test "2,000 files, 24 of them open at most" {
  mkdir events
  for ((i = 0; i < 2000; i++)); do echo "events/$i.parquet"; done >names
  xargs -n 1 ln -s "$VECTORS/arrow_rs.parquet" <names
  echo 'key 7' >keys
  (ulimit -n 24 && ask text --prune -j 4) | sort -u | wc -l >n
  holds n '2000\n'
  [[ $(ask text --progress=always --prune -c 2>&1) == *"2000 files, "* ]]
}

@test "a Parquet file that is also the output is named before the type of its column" {
  make_folder
  echo 1 >keys
  fails_with "events/a.parquet: input file is also the output" \
    lanebloom screen --parquet events --column text --decode int32 -o events/a.parquet keys
  cmp events/a.parquet "$VECTORS/arrow_rs.parquet"
}
