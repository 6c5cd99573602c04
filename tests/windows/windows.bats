#!/usr/bin/env bats
# The command on Windows: names, bytes, and files that are replaced. $EMULATOR is Wine.
# SPDX-License-Identifier: MIT

setup() {
  cd "$BATS_TEST_TMPDIR"
  printf 'key %s\n' {1..1000} >keys
}

@test "names are UTF-8, with slashes or backslashes" {
  mkdir 'папка'
  "$LANEBLOOM" build -o 'папка/фильтр €.lbf' keys
  [ -s 'папка/фильтр €.lbf' ]
  [ "$("$LANEBLOOM" screen --count 'папка\фильтр €.lbf' keys)" = 1000 ]
  run "$LANEBLOOM" info 'папка/нет.lbf'
  [ "$status" -eq 2 ]
  [[ $output == *"папка/нет.lbf: No such file or directory"* ]]
}

@test "an SSTable is known by the last part of its path, after slashes or backslashes" {
  mkdir db
  "$LANEBLOOM" build --raw --format cassandra -o db/nb-1-big-Filter.db keys
  : >db/nb-1-big-Data.db
  for path in db/nb-1-big-Data.db 'db\nb-1-big-Data.db' 'db\nb-1-big-Filter.db' \
    'Z:'"$(tr / '\\' <<<"$PWD")"'\db\nb-1-big-Data.db'; do
    [ "$("$LANEBLOOM" screen --count --db "$path" keys)" = 1000 ]
  done
}

@test "a path may be longer than 260 characters" {
  local folder
  folder=$(printf 'f%.0s' {1..120})
  mkdir -p "$folder/$folder/$folder"
  "$LANEBLOOM" build -o "$folder/$folder/$folder/filter" keys
  [ "$("$LANEBLOOM" screen --count "$folder/$folder/$folder/filter" keys)" = 1000 ]
}

@test "every byte passes as it is: no CR is added or removed, and Ctrl-Z ends nothing" {
  "$LANEBLOOM" build -o filter keys
  printf 'key 1\r\nkey 2\nkey 3\x1a\nkey 4\n' >input
  "$LANEBLOOM" screen -v filter <input >output
  [ "$(od -An -c output | tr -d ' \n')" = 'key1\r\nkey3032\n' ]
}

@test "lines that end in CR LF need --crlf" {
  "$LANEBLOOM" build -o filter keys
  sed 's/$/\r/' keys >lines
  [ "$("$LANEBLOOM" screen --count --crlf filter lines)" = 1000 ]
  [ "$("$LANEBLOOM" screen --count filter lines 2>/dev/null)" -lt 1000 ]
}

@test "filters of Windows and of this machine are the same bytes" {
  "$LANEBLOOM" build -o filter keys
  "$LANEBLOOM" build -o - keys >piped
  cmp filter piped
  [ "$("$LANEBLOOM" verify filter | head -n 1)" = "filter: ok" ]
}

@test "a file is replaced as a whole, and nothing else is left in its folder" {
  "$LANEBLOOM" build -o filter keys
  printf 'key %s\n' {1..2000} >more
  "$LANEBLOOM" build -o filter more
  [ "$("$LANEBLOOM" screen --count filter more)" = 2000 ]
  [ "$(ls -A | xargs)" = "filter keys more" ]
}

@test "a command that is ended leaves the old file, and no other" {
  "$LANEBLOOM" build -o filter keys
  cp filter before
  mkfifo pipe
  "$LANEBLOOM" screen -o filter before - <pipe &
  exec 8>pipe
  kill $!
  exec 8>&-
  wait || true
  cmp filter before
  [ "$(ls -A | xargs)" = "before filter keys pipe" ]
}

@test "NUL is a device: nothing is stored, and no filter is read from it" {
  "$LANEBLOOM" build -o NUL keys
  [ ! -e NUL ]
  run "$LANEBLOOM" info NUL
  [ "$status" -eq 2 ]
}

@test "several commands add to one filter, and none of the keys is lost" {
  "$LANEBLOOM" build --expected 10000 -o filter keys
  for i in 1 2 3; do
    printf "more $i %s\n" {1..100} | "$LANEBLOOM" add filter &
  done
  wait
  for i in 1 2 3; do
    [ "$(printf "more $i %s\n" {1..100} | "$LANEBLOOM" screen --count filter)" = 100 ]
  done
}

@test "an input that is also the output is refused" {
  cp keys before
  run bash -c '"$LANEBLOOM" hash keys >>keys'
  [ "$status" -eq 2 ]
  [[ $output == *"keys: input file is also the output"* ]]
  run bash -c '"$LANEBLOOM" hash <keys >>keys'
  [ "$status" -eq 2 ]
  "$LANEBLOOM" build -o filter before
  run bash -c '"$LANEBLOOM" screen filter keys >>keys'
  [ "$status" -eq 2 ]
  cmp keys before
}

@test "descriptors of bash are no files" {
  "$LANEBLOOM" build -o filter keys
  run "$LANEBLOOM" screen filter <(echo key 1)
  [ "$status" -eq 2 ]
  [[ $output == *"/dev/fd/"*": No such file or directory"* ]]
  run "$LANEBLOOM" info <(cat filter)
  [ "$status" -eq 2 ]
}

@test "filters and compressed keys are read from standard input" {
  "$LANEBLOOM" build -o filter keys
  gzip -c keys >keys.gz
  [ "$("$LANEBLOOM" screen --count filter <keys.gz)" = 1000 ]
  [ "$("$LANEBLOOM" screen --count filter - < <(cat keys.gz))" = 1000 ]
  [ "$("$LANEBLOOM" info - <filter | sed -n 's/^keys: //p')" = 1000 ]
}
