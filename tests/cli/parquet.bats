# lanebloom screen --parquet: the records that are selected, and the files and row groups that are
# named. answers.txt has what other software finds in the same files (tests/vectors/README.md).
# SPDX-License-Identifier: MIT
load helper
load parquet

# Prints what --which should print for a file and a column of answers.txt, in hexadecimal: FILE
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
  run -1 --separate-stderr screen_events text
  [[ -z $output ]]
  run -1 --separate-stderr screen_events text -q
  run -0 --separate-stderr screen_events text -q -v
  [[ -z $output ]]
  printf '\tno key\n' >keys
  run -0 --separate-stderr screen_events text -q -f 3 --missing=keep
  run -0 --separate-stderr screen_events text -q -v -f 3 --missing=keep
  run -1 --separate-stderr screen_events text -q -f 3 --missing=drop
  run -1 --separate-stderr screen_events text -q -v -f 3 --missing=drop
  printf 'absent\n' >keys
  printf 'key 1\n' >>keys
  run -0 --separate-stderr screen_events text -q
  [[ -z $output ]]
  : >keys
  run -1 --separate-stderr screen_events text
}

# The records fill many reads. To print them, the command reads and cuts them a second time.
@test "more records than are read at once" {
  make_folder
  seq -f 'other %.0f' 100000 | sed '77777s/.*/key 7/' >keys
  [[ $(screen_events text) == "key 7" ]]
  [[ $(screen_events text -n) == "77777:key 7" ]]
  [[ $(screen_events text -v | wc -l) -eq 99999 ]]
  [[ $(screen_events text --which -c | awk '{ n += $3 } END { print n }') -eq 2 ]]
  screen_events text -j 1 --which >one
  screen_events text -j 7 --which | cmp - one
  holds one 'events/a.parquet\t0\tkey 7\nevents/day=1/b.parquet\t0\tkey 7\n'
}

@test "--prune names the files, and --row-groups where in them" {
  make_folder
  echo 'key 30' >keys
  screen_events text --prune >names
  holds names 'events/a.parquet\nevents/day=1/b.parquet\n'
  screen_events text --prune --row-groups >names
  holds names 'events/a.parquet\t1\nevents/day=1/b.parquet\t1\n'
  [[ $(screen_events text --prune -c) == 2 && $(screen_events text --prune --row-groups -c) == 2 ]]
  printf 'key 30\0' >keys
  screen_events text --prune -z >names
  holds names 'events/a.parquet\0events/day=1/b.parquet\0'
  echo absent >keys
  run -1 --separate-stderr screen_events text --prune
  [[ -z $output && -z $stderr ]]
  mv events/a.parquet $'events/a\nb.parquet'
  echo 'key 30' >keys
  fails_with 'a name without a line end' screen_events text --prune
}

@test "names within a file are escaped in messages" {
  name=$'\e[7m' # has as many bytes as the column's name
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

# ls and find do the same.
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

@test "a Parquet file that is also the output is named before the type of its column" {
  make_folder
  echo 1 >keys
  fails_with "events/a.parquet: input file is also the output" \
    lanebloom screen --parquet events --column text --decode int32 -o events/a.parquet keys
  cmp events/a.parquet "$VECTORS/arrow_rs.parquet"
}
