# --progress: the reports, and the cases without reports. No test waits for a fixed time.
# SPDX-License-Identifier: MIT
load helper

# wait_for FILE PATTERN: waits until the file contains the pattern.
wait_for() {
  local ntries
  for ((ntries = 0; ntries < 3000; ntries++)); do
    ! grep -q -- "$2" "$1" || return 0
    sleep 0.02
  done
  echo "no '$2' in: $(<"$1")"
  return 1
}

@test "values" {
  refuses "--progress: expected auto, always or never, found 'x'" lanebloom build --progress=x -o f
  numbers 1 1000 >keys
  lanebloom build -o filter --expected 2k keys
  for verb in "build -o other keys" "add filter keys" "screen -c filter keys"; do
    for when in "" --progress=auto --progress=never; do
      run -0 --separate-stderr lanebloom $verb $when
      [[ -z $stderr ]]
    done
    for when in --progress --progress=always; do
      run -0 --separate-stderr lanebloom $verb $when
      [[ $stderr =~ ^lanebloom:\ 1000\ records,\ [0-9]+\ per\ second$ ]]
    done
  done
}

@test "the share of regular files, the rate, and the time left" {
  truncate -s 100G records # too large to be read whole during the test
  "$LANEBLOOM" build --progress=always --width 1 --expected 1 -o filter records records \
    >out 2>errors &
  wait_for errors "per second"
  kill $!
  wait $! || true
  line='lanebloom: 0 %, [0-9]* records, [0-9]* per second, [0-9.]* [smh]\(in\)\? left'
  grep -qx "$line" errors || { cat errors; false; }
  [[ ! -s out ]]
}

@test "no share of a pipe" {
  mkfifo pipe
  "$LANEBLOOM" build --progress=always -o filter pipe 2>errors &
  yes 2>/dev/null >pipe & # many lines, until the reader exits
  wait_for errors "per second"
  kill %1 2>/dev/null || kill $! || true
  grep -qx 'lanebloom: [0-9]* records, [0-9]* per second' errors || { cat errors; false; }
}

@test "on a terminal: a report that is erased, none while records are printed there" {
  needs_terminal
  truncate -s 100G records
  numbers 1 10 | lanebloom build -o filter
  touch terminal
  script -qefc "'$LANEBLOOM' screen --width 1 -c filter records" terminal >/dev/null </dev/null &
  wait_for terminal $'lanebloom: 0 %, [0-9]* records, .* left\r'
  kill $!
  wait $! || true
  on_terminal timeout 3 "$LANEBLOOM" screen --width 1 filter records || true
  run -1 grep lanebloom: terminal
  on_terminal timeout 3 "$LANEBLOOM" screen --progress=never --width 1 -c filter records || true
  run -1 grep lanebloom: terminal
  # Work that ends soon reports nothing. Output after a report begins on an erased line.
  numbers 1 10 >keys
  on_terminal "$LANEBLOOM" screen -c filter keys
  run -1 grep lanebloom: terminal
}

@test "a message erases the report" {
  needs_terminal
  numbers 1 10 | lanebloom build -o filter
  mkfifo pipe
  (
    exec 9>pipe
    for ((ntries = 0; ntries < 3000; ntries++)); do # until there is a report
      yes | head -n 1000 >&9
      ! grep -q 'per second' terminal || break
      sleep 0.02
    done
  ) &
  on_terminal "$LANEBLOOM" screen -c filter pipe missing || true
  grep -q $'per second\r\e\\[Klanebloom: missing: No such file' terminal ||
    { cat -v terminal; false; }
}

@test "records from a terminal because no INPUT was given: said once" {
  needs_terminal
  echo a >keys
  lanebloom build -o filter keys
  # Standard input is a terminal that ends after one line.
  for command in "screen filter" "match keys" "hash" "build -o other" "add filter"; do
    echo a | SHELL=$BASH script -qefc "$LANEBLOOM $command" terminal >/dev/null || true
    [[ $(grep -c 'reading records from the terminal' terminal) == 1 ]] || { cat terminal; false; }
    for input in - keys "<keys" "2>errors"; do
      echo a | SHELL=$BASH script -qefc "$LANEBLOOM $command $input" terminal >/dev/null || true
      ! grep 'reading records' terminal
    done
  done
}
