# lanebloom build.
# SPDX-License-Identifier: MIT
load helper

info() {
  lanebloom info --json "$1" | jq "$2"
}

@test "defaults: rocksdb-local, 10 bits per key, a container" {
  numbers 1 1000 >keys
  run -0 --separate-stderr lanebloom build -o filter keys
  [[ -z $output && -z $stderr ]]
  found=$(info filter '[.format, .keys, .bits_per_key, .probes, .filter_bytes]' | jq -c .)
  [[ $found == '["rocksdb-local",1000,10,6,1285]' ]]
}

@test "bytes are LevelDB's and RocksDB's" {
  # The bytes that are not 0 in the filters that RocksDB 7.8.3 makes of "hello" with format_version
  # 4 and 5.
  printf 'hello\n' | lanebloom build --raw --format rocksdb-legacy -o raw
  [[ $(cmp -l raw <(head -c 69 /dev/zero) | awk '{ printf "%s:%s ", $1 - 1, $2 }') == \
    "3:1 9:100 40:1 46:100 53:20 60:4 64:6 65:1 " ]]
  printf 'hello\n' | lanebloom build --raw -o raw
  [[ $(cmp -l raw <(head -c 69 /dev/zero) | awk '{ printf "%s:%s ", $1 - 1, $2 }') == \
    "3:1 5:1 12:2 17:2 40:2 41:10 64:377 66:6 " ]]
  # The filter that LevelDB 1.23 makes of this key with NewBloomFilterPolicy(10).
  printf '\x9a\xe3\xac\x97\xcb\xd5\xb9\xcd\x94\xe5\xf9\xd4\xc9\xe4\x91\xd4\xc5\xa2\xd1\xd6' |
    lanebloom build --format leveldb --width 20 --raw -o raw
  [[ $(od -An -v -tx1 raw | tr -d ' \n') == 082000400001040206 ]]
}

@test "inputs: files, - and none are the same records" {
  numbers 1 100 >a
  numbers 101 300 >b
  cat a b | lanebloom build -o none
  lanebloom build -o files a b
  lanebloom build -o mixed a - <b
  lanebloom build -o dash - < <(cat a b)
  cmp none files
  cmp none mixed
  cmp none dash
}

@test "options may follow inputs" {
  numbers 1 10 >keys
  lanebloom build keys -o filter --bits 12
  [[ $(info filter .bits_per_key) == 12 ]]
}

@test "an empty input builds an empty filter" {
  lanebloom build -o filter /dev/null
  [[ $(info filter .keys) == 0 && $(info filter .bits_set) == 0 ]]
  numbers 1 1000 | run -1 lanebloom screen -c filter
}

@test "an empty filter where none was: a warning, unless it has room or is forced" {
  run -0 --separate-stderr lanebloom build -o filter </dev/null
  is_message "filter: warning: found no keys: no key passes this filter"
  for options in "--expected 10" --force; do
    run -0 --separate-stderr lanebloom build $options -o filter </dev/null
    [[ -z $stderr ]]
  done
}

@test "no keys replace no filter that may have some, without --force" {
  numbers 1 10 >keys
  printf 'a\n' >short
  : >empty
  lanebloom build -o full keys
  head -c 70 full >damaged
  for target in full damaged; do
    cp $target before
    for how in empty "--expected 100 empty" "--rate 1% empty" "-f 2 --missing=drop short" \
      "--raw empty" "--raw --format leveldb empty"; do
      run -2 --separate-stderr lanebloom build -o $target $how
      [[ ${stderr_lines[-1]} == "lanebloom: $target: expected keys, found none: this file"* ]]
      cmp before $target
      lanebloom build --force -o copy $how 2>errors
    done
  done
  ln -s full link
  cat missing 2>errors | fails_with "link: expected keys, found none" lanebloom build -o link
  lanebloom build --expected 100 -o room empty
  lanebloom build --expected 100 -o filled keys
  lanebloom merge -o union room room
  fails_with "filled: expected keys, found none" lanebloom merge -o filled room
  fails_with "filled: expected keys, found none" lanebloom merge -o filled room union
  lanebloom build --raw -o raw keys
  fails_with "raw: expected keys, found none" lanebloom build --raw -o raw empty
  # a filter without keys is replaced; with --force, any filter is
  lanebloom build -o room empty
  lanebloom build -o room --expected 100 empty
  lanebloom build --raw --expected 100 -o bare empty
  lanebloom build --raw -o bare empty
  lanebloom merge -o room union
  lanebloom merge --force -o filled union
  lanebloom build --raw --force -o raw empty
  lanebloom build -o link --force empty
  [[ $(info full .keys) == 0 && $(info filled .keys) == 0 ]]
  lanebloom build --expected 100 -o /dev/stdout empty >full
  [[ $(info full .keys) == 0 ]]
}

@test "no false negatives, whatever the options" {
  numbers 1 20000 >keys
  for options in "" "--bits 1" "--bits 20" "--rate 0.01" "--expected 20000" "--expected 7" \
    "--expected 100000 --rate 0.001" \
    "--format leveldb-signed" "--format leveldb --bits 0" "--format rocksdb-legacy" \
      "--format rocksdb-legacy --bits 100" "--bits 0.5"; do
    lanebloom build $options -o filter keys
    lanebloom screen filter keys | cmp - keys
  done
}

@test "--expected with the true count gives the same bytes" {
  numbers 1 20000 >keys
  lanebloom build -o kept keys
  lanebloom build -o sized --expected 20000 keys
  cmp kept sized
}

@test "--rate counts regular files first; the model agrees" {
  numbers 1 3000 >a
  numbers 3001 10000 >b
  lanebloom build --rate 0.001 -o counted a b
  cat a b | lanebloom build --rate 0.001 --expected 10000 -o told
  cmp counted told
  [[ $(info counted '.keys == 10000 and .model_rate < 0.0015 and .model_rate > 0.0001') == true ]]
}

@test "--rate of what can be read only once asks for --expected" {
  numbers 1 10 >keys
  refuses "--expected N" lanebloom build --rate 0.01 -o filter
  refuses "--expected N" lanebloom build --rate 0.01 -o filter - <keys
  refuses "--expected N" lanebloom build --rate 0.01 -o filter keys - <keys
  refuses "--expected N" lanebloom build --rate 0.01 -o filter keys <(cat keys)
  [[ ! -e filter ]]
}

@test "--rate of empty inputs, and one that no size reaches" {
  refuses "--expected N" lanebloom build --rate 0.01 -o filter /dev/null
  : >empty
  lanebloom build --rate 0.01 -o filter empty
  [[ $(info filter .keys) == 0 ]]
  fails_with "--rate 1e-30: rocksdb-local cannot reach this rate" \
    lanebloom build --rate 1e-30 --expected 1000000000 -o other
  fails_with \
    "leveldb cannot reach this rate with 1000000000 keys; use --format rocksdb-local" \
    lanebloom build --rate 0.01 --format leveldb --expected 1000000000 -o other
  [[ ! -e other ]]
}

@test "--rate near 1, with and without --expected, in every format" {
  numbers 1 50 >keys
  formats=$(lanebloom plan --json --keys 1 --rate 1% | jq -r .format)
  [[ $(wc -w <<<"$formats") -ge 14 ]]
  for format in $formats; do
    for n in 1 50; do
      head -n $n keys >few
      run -0 --separate-stderr lanebloom build --raw --rate 99% --format $format -o told \
        --expected $n few
      run -0 --separate-stderr lanebloom build --raw --rate 99% --format $format -o counted few
      [[ -z $stderr || $stderr == *"warning: --rate: expected"*", measured "* ]]
      cmp told counted
      [[ $(lanebloom screen --raw --format $format -c counted few 2>/dev/null) == $n ]]
    done
  done
}

@test "--rate that the format does not keep: a warning, and the filter" {
  seq 209712 >keys # LevelDB's formula errs most here: docs/leveldb-false-positives.md
  run -0 --separate-stderr lanebloom build --rate 0.01 --format leveldb -o filter keys
  is_message "filter: warning: --rate: expected a false-positive rate of"
  [[ $stderr == *"rate of 1 %, measured "*" %; try --format rocksdb-local" ]]
  lanebloom screen filter keys | cmp - keys
  run -0 --separate-stderr lanebloom build --rate 0.01 --expected 30000 -o filter keys
  is_message "there were more keys than --expected"
  run -0 --separate-stderr lanebloom build --rate 0.01 -o filter keys
  [[ -z $stderr ]]
}

@test "--expected that is far too low: a warning with the rate reached" {
  numbers 1 100000 >keys
  for format in rocksdb-local rocksdb-legacy leveldb; do
    run -0 --separate-stderr lanebloom build --format $format --expected 1000 -o filter keys
    is_message "filter: warning: --expected: expected 1000 keys, found 100000; the model's"
    rate=$(lanebloom info --json filter | jq '.model_rate * 100')
    shown=$(sed 's/.*false-positive rate is \(.*\) % instead of .*/\1/' <<<"$stderr")
    jq -en --argjson rate "$rate" \
      --argjson shown "$shown" '$rate > 50 and ($rate / $shown - 1 | fabs) < 0.01'
  done
  for expected in 100000 99000 200000; do
    run -0 --separate-stderr lanebloom build --expected $expected -o filter keys
    [[ -z $stderr ]]
  done
}

@test "--bits that the format rounds or limits: what is in effect" {
  numbers 1 10 >keys
  for case in "200 rocksdb-local uses at most:100" "0.6 rocksdb-local rounds it to:1" \
    "1e6 rocksdb-legacy uses at most:100" "9.7 rocksdb-legacy rounds it to:10"; do
    read -r bits format what <<<"$case"
    effective=${what#*:}
    run -0 --separate-stderr lanebloom build --bits $bits --format $format -o filter keys
    is_message \
      "filter: warning: --bits $bits: $format ${what/:/ } bits per key"
    [[ $(info filter .bits_per_key) == "$effective" ]]
  done
  for case in "100 rocksdb-local" "10.5 rocksdb-local" "10.00001 rocksdb-local" "9 rocksdb-legacy" \
    "200 leveldb"; do
    read -r bits format <<<"$case"
    run -0 --separate-stderr lanebloom build --bits $bits --format $format -o filter keys
    [[ -z $stderr ]]
  done
}

@test "numbers that are none are shown" {
  whole="a whole number from 1 to 18446744073709551615"
  for text in 0 -1 x 1x "" " 1" +1 0x10 18446744073709551616 99999999999999999999999 1.5 1e-1 1e30 \
    1e99999999999999999999 0e9 . k 1e 1.2.3 1m 1kB 1k5 1,000 '1 k' 1Kx 1.0001k 0.1Ki \
    18446744073709552k 16777216Ti 1ki1; do
    refuses "--expected: expected $whole, found '$text'" \
      lanebloom build "--expected=$text" -o filter
  done
  for text in x 1x "" " 1" 0x10 nan inf 1e999 . e 1-1 %; do
    refuses "--bits: expected a number, found '$text'" lanebloom build "--bits=$text" -o filter
    refuses "--rate: expected a number between 0 and 1, or 0% and 100%, found '$text'" \
      lanebloom build "--rate=$text" -o filter
  done
  for text in 0 1 -0.5 2 0% 100% -1% 1%% 1%x 1e400%; do
    refuses "--rate: expected a number between 0 and 1, or 0% and 100%, found '$text'" \
      lanebloom build "--rate=$text" -o filter
  done
  refuses "--bits: expected a number, found '1%'" lanebloom build --bits 1% -o filter
  [[ ! -e filter ]]
}

@test "numbers as people write them" {
  numbers 1 10 >keys
  while read -r number texts; do
    lanebloom build --expected $number -o expected keys
    for text in $texts; do
      lanebloom build --expected $text -o filter keys
      cmp expected filter || { echo "$text"; false; }
    done
  done <<'END'
1000000 1M 1e6 1E6 1e+6 1000k 1000K 0.001G 1.0M 1000000.00 001M 10000000000000000000000e-16 .1e7
1500 1.5k 1.5K 1.5e3 0.0015M 15000e-1
10000 10k 1e4 0.00000001T
65536 64Ki 64ki 65.536k
1572864 1.5Mi 0.00146484375Gi
END
  for pair in 0.01:1% 0.001:0.1% 0.5:50% 0.25:2.5e1%; do
    lanebloom build --expected 1k --rate ${pair#*:} -o filter keys
    lanebloom build --expected 1000 --rate ${pair%:*} -o expected keys
    cmp expected filter || { echo "$pair"; false; }
  done
  [[ $(lanebloom info --json --measure=1.5k filter | jq .measured_rate.hashes) == 1500 ]]
  [[ $(seq 999 | lanebloom screen -j 1e0 --width 0.001k -c filter) -ge 0 ]]
  # the command accepts the largest number, but the format refuses it
  for text in 18446744073709551615 18446744073709551615.0 18.446744073709551615e18 \
    1844674407370955161500e-2 18446744073709551.615k; do
    fails_with "found 18446744073709551615 keys" lanebloom build --expected $text -o other keys
  done
}

@test "--bits that the format does not take" {
  numbers 1 10 >keys
  for bits in 10.5 9.7 -1 2147483648 10.0000000000001; do
    fails_with "--bits: expected 0 to 2147483647 in steps of 1 for leveldb, found $bits" \
      lanebloom build --format leveldb --bits=$bits -o filter keys
  done
  for bits in 3e9 1e308; do
    lanebloom build --bits=$bits -o large keys
    [[ $(lanebloom screen -c large keys) == 10 ]]
    rm large
  done
  for bits in 0 0.25 -1; do
    fails_with "--bits: expected at least 0.5 for rocksdb-local, found $bits" \
      lanebloom build --bits=$bits -o filter keys
  done
  [[ ! -e filter ]]
}

@test "unknown formats, options that exclude each other, no target" {
  refuses "--format: expected one of leveldb" lanebloom build --format berkeley -o filter
  refuses ", found 'unknown'" lanebloom build --format unknown -o filter
  refuses " cassandra cassandra-3 cassandra-2, found 'rocksdb', which can only be read" \
    lanebloom build --format rocksdb -o filter
  refuses " cassandra cassandra-3 cassandra-2, found 'rocksdb-ribbon', which can only be read" \
    lanebloom build --format rocksdb-ribbon -o filter
  for verb in "build -o filter" hash; do
    refuses "--format: expected one of leveldb" lanebloom $verb --format rocks
    [[ $stderr != *" rocksdb "* && $stderr != *" rocksdb,"* ]]
  done
  refuses " rocksdb" lanebloom screen --raw --format rocks filter
  [[ " ${stderr//,/ } " == *" rocksdb "* ]]
  refuses "give only one of --bits and --rate" \
    lanebloom build --bits 10 --rate 0.1 --expected 5 -o filter
  refuses "-o FILE" lanebloom build
  [[ ! -e filter ]]
}

@test "--expected beyond memory is refused before anything is read" {
  mkfifo never
  fails_with "a filter of 1.25 EB; fewer keys, or fewer bits for each, need less" \
    timeout 5 "$LANEBLOOM" build --format leveldb --expected 1000000000000000000 -o filter never
  found="; found 1000000000000000000 keys, which need 1.25 EB"
  most="3435973785 keys, which take 4294967237 bytes of rocksdb-local"
  fails_with "expected at most $most at 10 bits per key$found" \
    timeout 5 "$LANEBLOOM" build --expected 1000000000000000000 -o filter never
  fails_with "found 4000000000 keys, which need 5 GB" \
    timeout 5 "$LANEBLOOM" build --expected 4000000000 -o filter never
  fails_with "of rocksdb-local at 9.7 bits per key; found 4000000000 keys" \
    timeout 5 "$LANEBLOOM" build --bits 9.7 --expected 4000000000 -o filter never
  most="429490176 keys, which take 536862789 bytes of rocksdb-legacy"
  fails_with "expected at most $most at 10 bits per key$found" \
    timeout 5 "$LANEBLOOM" build --format rocksdb-legacy --expected 1000000000000000000 \
    -o filter never
  most="1844674407370955160 keys, which take 2305843009213693951 bytes of leveldb"
  fails_with "$most at 10 bits per key; found 18446744073709551615 keys, which need 23.1 EB" \
    timeout 5 "$LANEBLOOM" build --format leveldb --expected 18446744073709551615 -o filter never
  [[ ! -e filter ]]
}

@test "an input that cannot be read: nothing is written" {
  numbers 1 10 >keys
  fails_with "missing: No such file or directory" lanebloom build -o filter keys missing
  fails_with "missing: No such file or directory" lanebloom build --rate 0.1 -o filter keys missing
  fails_with ".: Is a directory" lanebloom build -o filter keys .
  fails_with ".: Is a directory" lanebloom build --rate 0.1 -o filter keys .
  fails_with "/proc/self/mem: I" lanebloom build -o filter /proc/self/mem keys # musl: I/O error
  fails_with "expected records of 7 bytes, found 3 bytes after the last one" \
    lanebloom build --width 7 -o filter <(printf '1234567abc') keys
  [[ ! -e filter && $(ls) == keys ]]
  echo old >filter
  fails_with "missing" lanebloom build --force -o filter keys missing
  holds filter 'old\n'
}

@test "the target's other contents, mode and links survive" {
  numbers 1 10 >keys
  echo old >real
  chmod 640 real
  ln -s real link
  lanebloom build --force -o link keys
  [[ -L link && $(stat -c %a real) == 640 && $(ls) == $'keys\nlink\nreal' ]]
  lanebloom screen real keys | cmp - keys
  umask 027
  lanebloom build -o new keys
  lanebloom build --raw -o new.raw keys
  [[ $(stat -c %a new) == 640 && $(stat -c %a new.raw) == 640 ]]
}

@test "-o - and -o /dev/stdout write to a pipe, a file, an appended file" {
  numbers 1 1000 >keys
  for raw in "" --raw; do
    lanebloom build $raw -o filter keys
    lanebloom build $raw -o - keys | cmp - filter
    lanebloom build $raw -o /dev/stdout keys | cmp - filter
    lanebloom build $raw -o - keys >copy
    cmp copy filter
    echo before >appended
    lanebloom build $raw -o - keys >>appended
    { echo before; cat filter; } | cmp - appended
  done
}

@test "-o FIFO, with and without --raw" {
  numbers 1 1000 >keys
  mkfifo fifo
  for raw in "" --raw; do
    lanebloom build $raw -o filter keys
    cat fifo >copy &
    timeout 5 "$LANEBLOOM" build $raw -o fifo keys
    wait $!
    cmp copy filter
    [[ -p fifo ]]
  done
}

@test "what is no container is replaced by --force alone" {
  numbers 1 10 >keys
  lanebloom build -o filter keys
  cp filter one.lbf
  cp keys precious
  ln -s precious link
  head -c 3 filter >start
  table=$SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10.sst
  for target in precious ./precious link start; do
    cp "$target" before
    for words in "build keys -o" "build --rate 0.01 keys -o" "merge one.lbf -o" \
      "extract $table -o"; do
      fails_with "$target: expected a new file, or a container to replace, found another file; " \
        lanebloom $words $target
      cmp "$target" before
    done
  done
  lanebloom build --force -o link keys
  cmp precious filter
  cp keys precious
  lanebloom merge --force -o precious one.lbf
  cmp precious filter
  cp keys precious
  lanebloom extract --force -o precious "$table"
  lanebloom info precious >/dev/null
}

@test "containers, damaged ones, empty files, pipes and --raw need no --force" {
  numbers 1 10 >keys
  lanebloom build -o filter keys
  head -c 70 filter >damaged
  : >empty
  cp keys bare
  for target in damaged empty filter /dev/null; do
    lanebloom build -o $target keys
    [[ $target == /dev/null ]] || cmp $target filter
  done
  cat keys >appended
  lanebloom build -o /dev/stdout keys >>appended
  cat keys filter | cmp - appended
  lanebloom build --raw -o raw keys
  lanebloom build --raw -o raw keys
  lanebloom build --raw -o bare keys
  cmp raw bare
}

@test "targets that cannot be written" {
  numbers 1 100000 >keys
  for raw in "" --raw; do
    fails_with "/dev/full: No space left on device" lanebloom build $raw -o /dev/full keys
    fails_with "none/filter: No such file or directory" lanebloom build $raw -o none/filter keys
    fails_with ".: Is a directory" lanebloom build $raw -o . keys
    run -2 --separate-stderr bash -c "'$LANEBLOOM' build $raw -o - keys >/dev/full"
    is_message "No space left on device"
    run -2 --separate-stderr bash -c "'$LANEBLOOM' build $raw -o - keys >&-"
    is_message "Bad file descriptor"
  done
  [[ $(ls) == keys ]]
}

@test "an input is never the target" {
  numbers 1 10 >keys
  cp keys copy
  ln -s keys link
  local message="input file is also the output: write to another file"
  for force in "" --force --raw; do
    for target in keys link; do
      fails_with "keys: $message" lanebloom build $force -o $target keys
      fails_with "(standard input): $message" lanebloom build $force -o $target <keys
      fails_with "(standard input): $message" lanebloom build $force -o $target copy - <keys
    done
  done
  cmp keys copy
}

@test "--raw round trip: bare bytes are the container's payload" {
  numbers 1 1000 >keys
  numbers 1 50000 >rows
  lanebloom build -o filter keys
  lanebloom build --raw -o raw keys
  [[ $(stat -c %s raw) -eq 1285 ]]
  tail -c 1285 filter | cmp - raw
  lanebloom screen filter rows >expected
  for format in rocksdb-local rocksdb; do
    lanebloom screen --raw --format $format raw rows | cmp - expected
    lanebloom screen --raw --format $format <(cat raw) rows | cmp - expected
    lanebloom screen --raw --format $format - rows <raw | cmp - expected
  done
  run -2 --separate-stderr lanebloom screen --raw --format rocksdb-legacy raw rows
  is_message "raw: expected a filter of rocksdb-legacy, found one of rocksdb-local"
}

@test "--progress reports once at least, silence otherwise" {
  numbers 1 1000 >keys
  run -0 --separate-stderr lanebloom build --progress -o filter keys
  [[ $stderr =~ ^lanebloom:\ 1000\ records,\ [0-9]+\ per\ second$ ]]
  run -0 --separate-stderr lanebloom screen --progress -c filter keys
  [[ $output == 1000 && $stderr == *"1000 records"* ]]
}
