# lanebloom add: afterwards the filter has all new keys or none; it has a limited room; and several
# commands may run at a time.
# SPDX-License-Identifier: MIT
load helper

keys_of() { # FILTER
  lanebloom info --json "$1" | jq .keys
}

@test "the filter is the one that build makes of all keys, in every format" {
  numbers 1 1000 >keys-a
  numbers 5001 7000 >keys-b
  for format in leveldb leveldb-signed rocksdb-legacy rocksdb-local; do
    lanebloom build --format $format --expected 3k -o seen keys-a
    lanebloom build --format $format --expected 3k -o all keys-a keys-b
    run -0 --separate-stderr lanebloom add seen keys-b
    [[ -z $output && -z $stderr ]]
    cmp all seen
  done
  for bits in 1 9.5 100; do
    lanebloom build --bits $bits --expected 3k -o seen keys-a
    lanebloom build --bits $bits --expected 3k -o all keys-a keys-b
    lanebloom add seen <keys-b
    cmp all seen
  done
}

@test "records as build reads them" {
  lanebloom build --expected 100 -o empty </dev/null
  printf 'a\0b\0' | lanebloom build --expected 100 -o expected -z
  for how in "-z:a\0b\0" "--crlf:a\r\nb\r\n" "--width 1:ab" "-j 2:a\nb\n" "-:a\nb"; do
    cp empty seen
    printf "${how#*:}" | lanebloom add ${how%%:*} seen 2>/dev/null ||
      printf "${how#*:}" | lanebloom add seen -
    cmp expected seen || { echo "$how"; false; }
  done
  cp expected seen
  lanebloom add seen /dev/null
  cmp expected seen
}

@test "no room: the filter stays as it is, or is overfilled with a warning" {
  numbers 1 10000 >keys
  numbers 20001 25000 >more
  lanebloom build -o full keys
  cp full seen
  fails_with "seen: expected a false-positive rate of 0.953 %, found 4.39 % with the new keys: " \
    lanebloom add seen more
  [[ $stderr == *": the filter has room for 10035 keys, and would have about 149"* ]] ||
    { echo "$stderr"; false; }
  [[ $stderr == *"give --overfill" ]]
  cmp full seen
  run -0 --separate-stderr lanebloom add --overfill seen more
  is_message "seen: warning: expected a false-positive rate of 0.953 %, found 4.39 % with"
  [[ $(lanebloom screen -c seen keys more) == 15000 && $(keys_of seen) == 15000 ]]
  # adding a few keys beyond the room is allowed; adding to an overfilled filter is refused
  cp full seen
  head -n 300 more | lanebloom add seen
  cp full seen
  lanebloom build -o overfull --expected 1000 keys 2>/dev/null
  fails_with "overfull: expected a false-positive rate of" lanebloom add overfull more
}

@test "room is used to the last key; keys that are there take none" {
  numbers 1 9000 >keys
  numbers 10001 11000 >more
  for format in leveldb rocksdb-legacy rocksdb-local; do
    lanebloom build --format $format --expected 10k -o seen keys
    lanebloom add seen more
    for i in 1 2 3; do
      lanebloom add seen keys
    done
    [[ $(keys_of seen) == 37000 ]]
    [[ $(lanebloom screen -c seen keys more) == 10000 ]]
  done
}

@test "filters that cannot take keys are refused before input is read" {
  numbers 1 100 >keys
  lanebloom build -o none /dev/null
  fails_with "none: expected a filter with bits to set, found one that no key passes" \
    without_input "$LANEBLOOM" add none
  lanebloom extract "$SOURCE_DIR/tests/vectors/tables/rocksdb_fv5_xxh3_flb10.sst" -o table
  fails_with "table: expected a filter that states its number of keys and its bits per key" \
    without_input "$LANEBLOOM" add table
  lanebloom build --raw --format leveldb -o raw keys
  fails_with "raw: not a lanebloom container" without_input "$LANEBLOOM" add raw
  fails_with "missing: No such file or directory; \`lanebloom build --expected N' makes" \
    without_input "$LANEBLOOM" add missing
  mkfifo pipe
  fails_with "pipe: expected a regular file" without_input "$LANEBLOOM" add pipe
  fails_with ".: Is a directory" without_input "$LANEBLOOM" add .
  for path in - /dev/stdin; do
    refuses "FILTER is replaced, so it cannot be standard input" lanebloom add $path
  done
  refuses "expected a FILTER, found none" lanebloom add
  lanebloom build --expected 1k -o seen keys
  head -c 200 seen >short
  fails_with "short: truncated" without_input "$LANEBLOOM" add short
  mkdir closed
  cp seen closed
  chmod 555 closed
  fails_with "closed/seen: Permission denied" \
    without_input "${unprivileged[@]}" "$LANEBLOOM" add closed/seen
}

@test "inputs that cannot be read: nothing is added" {
  numbers 1 100 >keys
  lanebloom build --expected 1k -o seen keys
  cp seen old
  fails_with "missing: No such file or directory" lanebloom add seen keys missing
  for before in "" keys missing; do
    fails_with "seen: input file is also the output" lanebloom add seen $before seen
    fails_with "(standard input): input file is also the output" lanebloom add seen $before - <seen
  done
  cp seen other
  fails_with "other: expected records, found a lanebloom container: \`add' reads keys; \`merge'" \
    lanebloom add seen keys other
  cmp old seen
  printf x | dd of=seen bs=1 seek=100 conv=notrunc status=none
  cp seen old
  fails_with "seen: damaged: expected checksum" lanebloom add seen keys
  cmp old seen
}

@test "links and modes stay" {
  numbers 1 10 >keys
  lanebloom build --expected 100 -o seen keys
  chmod 640 seen
  ln -s seen link
  numbers 11 20 | lanebloom add link
  [[ -L link && $(stat -c %a seen) == 640 && $(keys_of seen) == 20 ]]
  chmod 400 seen
  numbers 21 30 | "${unprivileged[@]}" "$LANEBLOOM" add seen
  [[ $(stat -c %a seen) == 400 && $(keys_of seen) == 30 ]]
}

@test "many commands that add at the same time: no key is lost" {
  local n=12 writers=() at
  [[ -z ${LANEBLOOM_EXHAUSTIVE:-} ]] || n=40
  : | lanebloom build --expected 100k -o seen
  for ((at = 0; at < n; at++)); do
    numbers $((at * 1000 + 1)) $((at * 1000 + 1000)) >keys.$at
  done
  for ((at = 0; at < n; at++)); do
    "$LANEBLOOM" add seen keys.$at &
    writers+=($!)
  done
  for writer in "${writers[@]}"; do
    wait $writer
  done
  [[ $(keys_of seen) == $((n * 1000)) ]]
  cat keys.* | lanebloom build --expected 100k -o all
  cmp all seen
  [[ -z $(ls -A | grep '^\.lanebloom') ]]
}

# begin_to_add: starts to add keys-b to seen, and returns once this command waits for the lock that
# descriptor 8 holds.
begin_to_add() {
  flock -x 8
  "$LANEBLOOM" add seen keys-b 8<&- 2>errors &
  adder=$!
  local ntries
  for ((ntries = 0; ntries < 500; ntries++)); do
    ! grep -q -- "-> FLOCK .*:$(stat -L -c %i /dev/fd/8) " /proc/locks || return 0
    sleep 0.02
  done
  echo "it does not wait"
  return 1
}

can_see_locks() {
  exec 8<seen
  flock -x 8
  grep -q " FLOCK .*:$(stat -L -c %i /dev/fd/8) " /proc/locks || skip "locks cannot be seen here"
  exec 8<&-
}

@test "the second waits until the first has replaced the filter" {
  numbers 1 1000 >keys-a
  numbers 5001 6000 >keys-b
  : | lanebloom build --expected 2k -o seen
  lanebloom build --expected 2k -o all keys-a keys-b
  can_see_locks
  cp seen old
  lanebloom build --expected 2k -o new keys-a
  exec 8<seen
  begin_to_add
  cmp old seen
  mv new seen # as the first adder does before it releases the lock
  exec 8<&-
  wait $adder
  cmp all seen
}

@test "a filter that was replaced by another kind is left alone" {
  numbers 1 1000 >keys-b
  : | lanebloom build --expected 2k -o seen
  lanebloom build --expected 5k -o other keys-b
  can_see_locks
  exec 8<seen
  begin_to_add
  cp other new
  mv new seen
  exec 8<&-
  status=0
  wait $adder || status=$?
  [[ $status -eq 2 && $(<errors) == "lanebloom: seen: the filter was replaced by another kind"* ]]
  [[ $(<errors) == *": expected "*" bytes, found "*"; nothing was added" ]]
  cmp other seen
}

@test "a path that names a descriptor leads to its file, which is replaced" {
  lanebloom build --expected 1000 -o filter </dev/null
  exec 7<>filter
  echo y | lanebloom add /dev/fd/7
  exec 7>&-
  lanebloom verify -q filter
  [[ $(echo y | lanebloom screen -c filter) -eq 1 ]]
  cp filter gone
  exec 7<>gone
  rm gone
  fails_with "expected a file with a name" lanebloom add /dev/fd/7 <filter
  exec 7>&-
}

@test "adding beside merging into the same filter loses no key" {
  lanebloom build --expected 1000 -o filter </dev/null
  echo other | lanebloom build --expected 1000 -o more
  local n=15
  ! exhaustive || n=60
  (for k in $(seq $n); do echo "a$k" | lanebloom add filter || echo "a$k" >>refused; done) &
  for k in $(seq $n); do
    lanebloom merge -o filter filter more 2>/dev/null || true
  done
  wait $!
  : >>refused
  [[ $(seq -f a%g $n | grep -vxFf refused | lanebloom screen -v -c filter || true) -eq 0 ]]
}

@test "FILTER and INPUT the wrong way round: the message has the order" {
  seq 10 >keys
  lanebloom build -o f.lbf --expected 100 keys
  cp f.lbf before
  for inputs in f.lbf "keys2 f.lbf" "keys2 f.lbf other"; do
    fails_with "; f.lbf is one, and FILTER comes first: lanebloom add f.lbf keys" \
      lanebloom add keys $inputs
  done
  fails_with "keys: not a lanebloom container" lanebloom add keys keys2
  [[ $stderr != *"comes first"* ]]
  cmp before f.lbf
  seq 10 | cmp - keys
}
