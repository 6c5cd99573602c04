# match: its results are exact, and equal those of grep -Fxf, awk and sort.
# SPDX-License-Identifier: MIT
load helper

# some_lines SEED N: prints N short lines, many of which are equal.
some_lines() {
  awk -v seed="$1" -v n="$2" 'BEGIN { srand(seed); while (n-- > 0) print int(rand() * 30000) }'
}

@test "--keys-delimiter: fields of KEYS have a separator of their own" {
  printf 'nick;user\na;1\nb;"2;3"\n' >keys
  printf 'user,n\n1,x\n"2;3",y\n3,z\n' >input
  lanebloom match --keys-csv --keys-delimiter ';' --keys-field user --csv -f user keys input >out
  printf 'user,n\n1,x\n"2;3",y\n' | cmp - out
  lanebloom match --keys-delimiter ';' --keys-field 2 keys - <<<1 | grep -qx 1
  refuses "--keys-delimiter: expected one byte" \
    lanebloom match --keys-delimiter ab --keys-field 1 keys
  refuses "give only one of --keys-tsv and --keys-delimiter" \
    lanebloom match --keys-tsv --keys-delimiter , --keys-field 1 keys
  refuses "expected --keys-field LIST" lanebloom match --keys-delimiter , keys
}

@test "match and match -v are grep -Fxf and grep -vFxf" {
  some_lines 1 20000 >keys
  some_lines 2 50000 >input
  for jobs in 1 3; do
    lanebloom match -j $jobs keys input | cmp - <(grep -Fxf keys input)
    lanebloom match -j $jobs -v keys input | cmp - <(grep -vFxf keys input)
  done
  [[ $(lanebloom match -c keys input) -eq $(grep -cFxf keys input) ]]
  lanebloom match -n keys input | cmp - <(grep -nFxf keys input)
  lanebloom match -q keys input
  run -1 lanebloom match keys <(seq 40000 40010)
  [[ -z $output ]]
}

@test "empty keys, keys that repeat, a last key without a newline" {
  printf 'a\n\na\nb' >keys
  printf 'b\n\nab\na\nc' | lanebloom match keys >output
  holds output 'b\n\na\n'
  printf 'b\n\nab\na\nc' | lanebloom match -v keys >output
  holds output 'ab\nc\n'
  : >none
  for how in "" --keys-field=1; do
    run -1 --separate-stderr lanebloom match $how none keys
    is_message "none: warning: found no keys: no record matches"
  done
  run -1 --separate-stderr lanebloom match - keys </dev/null
  is_message "(standard input): warning: found no keys: no record matches"
  lanebloom match -v none keys >output
  holds output 'a\n\na\nb\n'
}

# says_nothing STATUS COMMAND...: checks that the command has this status and prints nothing on
# standard error.
says_nothing() {
  local expected=$1
  shift
  run --separate-stderr "$@"
  [[ $status -eq $expected && -z $stderr ]] ||
    { echo "status: $status, standard error: $stderr"; return 1; }
}

@test "records with a separator that no key has: -f was forgotten" {
  seq -f 'u%g' 20 >keys
  for separator in $'\t:a tab' ',:a comma' ';:a semicolon' '|:a bar' ' :a space' '::a colon'; do
    local byte=${separator:0:1} name=${separator:2}
    sed "s/$/${byte}x/" keys >input
    text="warning: none of 20 records matches any of 20 keys: the first records have $name, but no "
    for options in "" -n "-j 3"; do
      run -1 --separate-stderr lanebloom match $options keys input
      is_message "$text"
    done
    run -1 --separate-stderr lanebloom match -z <(tr '\n' '\0' <keys) <(tr '\n' '\0' <input)
    is_message "$text"
    for options in -c --annotate; do
      run --separate-stderr lanebloom match $options keys input
      [[ $stderr == "lanebloom: $text"* ]]
    done
    says_nothing 0 lanebloom match -d "$byte" -f 1 keys input
    says_nothing 1 lanebloom match -d "$byte" -f 2 keys input
    says_nothing 1 lanebloom match -q keys input
    says_nothing 0 lanebloom match -v keys input
    says_nothing 0 lanebloom match keys <(cat input keys)
    says_nothing 1 lanebloom match keys <(head -n 9 input) # so few records give no warning
    says_nothing 1 lanebloom match keys <(cat <(echo v) input)
    says_nothing 1 lanebloom match <(cat keys <(echo "${byte}u")) input
    says_nothing 1 lanebloom match --trim keys input
  done
  fails_with "missing: No such file" lanebloom match keys input missing
  run -1 --separate-stderr lanebloom match --summary keys input
  [[ $stderr != *warning* ]]
}

@test "none of many records matches any of many keys: what to check" {
  seq 1000 >keys
  seq 2001 3000 >input
  text="1000 records matches any of 1000 keys: if some should, check -f, --keys-field, --crlf, "
  for options in "" -c "-j 3"; do
    run -1 --separate-stderr lanebloom match $options keys input
    [[ $stderr == "lanebloom: warning: none of $text"* ]]
  done
  says_nothing 1 lanebloom match -q keys input
  says_nothing 0 lanebloom match -v keys input
  says_nothing 1 lanebloom match keys <(head -n 999 input)
  says_nothing 1 lanebloom match <(head -n 999 keys) input
  says_nothing 0 lanebloom match keys <(cat input; echo 1)
}

@test "keys from a pipe, and from standard input" {
  some_lines 3 20000 >keys
  some_lines 4 20000 >input
  lanebloom match <(cat keys) input | cmp - <(grep -Fxf keys input)
  lanebloom match - input <keys | cmp - <(grep -Fxf keys input)
  cat keys | lanebloom match - input | cmp - <(grep -Fxf keys input)
  lanebloom match keys <input | cmp - <(grep -Fxf keys input)
  refuses "KEYS and INPUT cannot both be standard input" lanebloom match -
  refuses "KEYS and INPUT cannot both be standard input" lanebloom match - input -
  refuses "expected KEYS" lanebloom match
}

@test "fields are those of INPUT; keys with quotes and line ends are not lines of KEYS" {
  printf 'bob\na,b\nx\ny\n' >keys
  printf 'id,name\n1,bob\n2,"a,b"\n3,"x\ny"\n4,"bob "\n' >rows.csv
  lanebloom match --csv -f name keys rows.csv >output
  holds output 'id,name\n1,bob\n2,"a,b"\n'
  lanebloom match --csv -f name -v keys rows.csv >output
  holds output 'id,name\n3,"x\ny"\n4,"bob "\n'
  printf '1\tbob\n2\tcarol\n3\n' >rows.tsv
  lanebloom match -f 2 --missing=keep keys rows.tsv >output
  holds output '1\tbob\n3\n'
}

@test "NUL-terminated records, Windows lines, binary keys" {
  printf 'a\nb\0c\0' >keys
  printf 'c\0a\0a\nb\0' | lanebloom match -z keys | cmp - <(printf 'c\0a\nb\0')
  printf 'a\r\nb' >keys
  printf 'b\r\na\nc\n' | lanebloom match --crlf keys | cmp - <(printf 'b\r\na\n')
  head -c 16000 /dev/urandom >keys
  { head -c 1600 /dev/urandom; head -c 8000 keys | tail -c 800; } >input
  lanebloom match --width 16 keys input | cmp - <(tail -c 800 input)
  fails_with "expected records of 16 bytes, found 3 bytes after the last one" \
    lanebloom match --width 16 <(head -c 19 keys) input
}

@test "a set of a million keys in many batches, every one of them found" {
  numbers 1 1000000 >keys
  [[ $(lanebloom match -c keys keys) -eq 1000000 ]]
  run -1 --separate-stderr lanebloom match -c keys <(numbers 1000001 1300000)
  [[ $output == 0 ]]
}

@test "KEYS that cannot be read, or are no keys, are an error before any input is read" {
  numbers 1 100 >keys
  lanebloom build -o filter keys
  fails_with "nowhere: No such file or directory" without_input "$LANEBLOOM" match nowhere
  fails_with ".: Is a directory" without_input "$LANEBLOOM" match .
  fails_with "filter: expected records, found a lanebloom container: \`match' compares keys" \
    without_input "$LANEBLOOM" match filter
  printf '\3757zXZ\0 and blocks' >keys.xz
  fails_with "keys.xz: expected records, found xz data" without_input "$LANEBLOOM" match keys.xz
}

@test "a table that memory cannot hold is an error before any input is read" {
  address_space_can_be_limited || skip "address space cannot be limited here"
  yes '' | head -n 30000000 >keys
  run -2 --separate-stderr bash -c "ulimit -v 150000; exec timeout 5 '$LANEBLOOM' match -j 1 keys"
  is_message "out of memory: 30000000 keys need about 398 MB for"
}

# match_meanwhile COMMAND...: runs a command that changes the file KEYS after match has read it.
match_meanwhile() {
  numbers 1 100000 >keys
  mkfifo input
  "$LANEBLOOM" match -c keys input >output &
  exec 7>input # can be opened only after match has read the keys
  "$@"
  numbers 99001 101000 >&7
  exec 7>&-
  wait $!
  rm input
  [[ $(<output) -eq 1000 ]]
}

@test "KEYS may change once they were read" {
  match_meanwhile truncate -s 0 keys
  match_meanwhile dd if=/dev/zero of=keys bs=1300000 count=1 conv=notrunc status=none
  match_meanwhile eval 'numbers 200001 300000 1<>keys'
}

@test "--missing speaks of KEYS, too: whole records, or fields of them" {
  printf '1\nz\n3' >keys
  seq 3 >input
  for field in "" "--keys-field 1"; do
    run -0 --separate-stderr lanebloom match --decode int32 --missing=drop $field keys input
    [[ $output == $'1\n3' ]]
    [[ $stderr == "lanebloom: keys: 1 of 3 records have no key, or malformed text: dropped"* ]]
    fails_with "keys: line 2: " lanebloom match --decode int32 $field keys input
  done
}

# make_tables: writes users.csv, with quotes, separators and line ends in fields, and events.tsv,
# with tabs.
make_tables() {
  printf 'name,id\r\n"bob",7\n"a,b",8\n"x\ny",9\n"say ""hi""",10\n\xc3\xa4,11' >users.csv
  printf 'bob\t7\na,b\t8\nsay "hi"\t10\n\xc3\xa4\t12\nno\t13\n' >events.tsv
}

@test "--keys-csv: the key is a field of KEYS, whatever the fields of INPUT" {
  make_tables
  lanebloom match --keys-csv --keys-field name -f 1 users.csv events.tsv >output
  holds output 'bob\t7\na,b\t8\nsay "hi"\t10\n\xc3\xa4\t12\n'
  lanebloom match --keys-csv --keys-field 2 -f 2 -v users.csv events.tsv >output
  holds output '\xc3\xa4\t12\nno\t13\n'
  lanebloom match --keys-csv --keys-field name,id -f 1,2 -c users.csv events.tsv >output
  holds output '3\n'
  lanebloom match --keys-csv --keys-field id --csv -f id <(cat users.csv) users.csv | cmp - \
    <(cat users.csv; echo)
  lanebloom match --keys-csv --keys-field id - events.tsv -f 2 -c <users.csv >output
  holds output '3\n'
  lanebloom match --keys-csv --keys-no-header --keys-field 1 -c users.csv <<<$'name\nbob' >output
  holds output '2\n'
  printf 'k\tv\n1\ta\n2\tb' >keys.tsv
  seq 5 | lanebloom match --keys-tsv --keys-field k keys.tsv >output
  holds output '1\n2\n'
  sed 1d keys.tsv >lines
  seq 5 | lanebloom match --keys-field 1 lines >output
  holds output '1\n2\n'
  printf '1\tx\0002\ty' | lanebloom match -z --keys-field 1 - <(printf '2\0003\0') | tr '\0' '\n' \
    >output
  holds output '2\n'
}

@test "--keys-csv: what awk says of a hundred thousand keys" {
  for seed in 5 6; do
    some_lines $seed 100000 | awk '{ print NR ",\"" $1 "\",\"a \"\"b\"\"\n,\"" }' >$seed.csv
  done
  awk -F , 'NR % 2 { gsub("\"", "", $2); print $2 }' 5.csv >keys
  lanebloom match --keys-csv --keys-no-header --keys-field 2 --csv --no-header -f 2 5.csv 6.csv |
    cmp - <(lanebloom match --csv --no-header -f 2 keys 6.csv)
  [[ $(lanebloom match --keys-csv --keys-no-header --keys-field 2 -c 5.csv keys) -eq 100000 ]]
}

@test "--keys-csv: empty keys, no keys, no record" {
  printf 'k\n\n' >keys
  printf '\na\n' | lanebloom match --keys-csv --keys-field k keys >output
  holds output '\n'
  printf 'k' >keys
  run -1 --separate-stderr lanebloom match --keys-csv --keys-field k keys <<<k
  is_message "keys: warning: found no keys"
  : >keys
  run -1 --separate-stderr lanebloom match --keys-field 1 keys <<<k
  fails_with "keys: expected a header, found an empty input" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field k keys
}

@test "--keys-csv: what is wrong with KEYS is said before any input is read" {
  make_tables
  fails_with "expected a field 'who' in the header, found name,id" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field who users.csv
  fails_with "expected field 3 in the header, found 2 fields" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field 3 users.csv
  printf 'a,b\n1,2\n"x\ny",3\n4\n' >short.csv
  fails_with "short.csv: line 5: expected field 2 'b', found 1 field; see --missing" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field b short.csv
  seq 2 4 >input
  run -0 --separate-stderr lanebloom match --keys-csv --keys-field b --missing=drop short.csv input
  [[ $output == $'2\n3' ]]
  [[ $stderr == "lanebloom: short.csv: 1 of 3 records lack a field of the key: dropped"* ]]
  printf 'a,b\n1,x"y\n' >quote.csv
  fails_with "quote.csv: line 2: field 2: expected quotes around the whole field" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field b quote.csv
  printf 'a,b\n1,"x\n' >quote.csv
  fails_with "quote.csv: line 2: field 2: expected a closing quote" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field b quote.csv
  printf 'a,"b\n1,x\n' >quote.csv
  fails_with "quote.csv: header, field 2: expected quotes around" \
    without_input "$LANEBLOOM" match --keys-csv --keys-field a quote.csv
  refuses "expected --keys-field LIST" lanebloom match --keys-csv users.csv
  refuses "only one of --keys-csv and --keys-tsv" lanebloom match --keys-csv --keys-tsv users.csv
  refuses "only one of --width and --keys-field" lanebloom match --width 3 --keys-field 1 keys
  refuses "only one of --null and --keys-csv" lanebloom match -z --keys-csv --keys-field 1 keys
  refuses "--keys-no-header needs" lanebloom match --keys-no-header --keys-field 1 keys
  refuses "--keys-field: expected numbers, found the name 'a'" lanebloom match --keys-field a keys
}

@test "KEYS and INPUT the wrong way round: the message says which comes first" {
  printf 'id,user\n1,5\n' >events.csv
  seq 5 >keys
  for list in user id,user 2 1-2; do
    fails_with "; KEYS has it: KEYS comes first, then INPUT" \
      lanebloom match --csv -f $list events.csv keys
  done
  fails_with "KEYS comes first" lanebloom match --csv -f user - keys <events.csv
  printf '0\n' >other
  for keys in other keys events.csv; do
    fails_with "keys: expected a field 'usr' in the header, found 1" \
      lanebloom match --csv -f usr $keys keys
    [[ $stderr != *"comes first"* ]]
  done
  run -2 --separate-stderr lanebloom match --csv -f usr /dev/null keys
  [[ ${stderr_lines[*]} == *"warning: found no keys: "*" header, found 1" ]]
  [[ $(lanebloom match -c --csv -f user keys events.csv) == 1 ]]
  printf 'user\n5\n' >keys # its only key equals the name of a column
  [[ $(lanebloom match -c --csv -f user keys events.csv) == 1 ]]
}

@test "memory: as the manual says, for keys that are records and for keys that are fields" {
  [[ -z ${SANITIZERS-} ]] && address_space_can_be_limited ||
    skip "sanitizers and emulators take memory of their own"
  local n=3000000 kb
  seq -w $n >keys # 7 bytes and a newline
  echo 0000001 >one
  for how in "" --keys-field=1; do
    local nbytes=$((8 + 14))
    [[ -z $how ]] || nbytes=$((8 + 2 * (7 + 8)))
    kb=$(($(peak "$LANEBLOOM" match -j 1 $how keys one) - $(peak "$LANEBLOOM" match -j 1 one one)))
    echo "# $kb kB for $n keys" >&3
    [[ $kb -lt $((n * nbytes / 1024)) ]]
  done
}
