# Errors of input and output that do not depend on filters.
# SPDX-License-Identifier: MIT
load helper

make_filter() {
  numbers 1 200000 >keys
  lanebloom build -o filter keys
}

sh_run() {
  run --separate-stderr bash -o pipefail -c "$1" bash "$LANEBLOOM"
}

@test "a full device: one message, status 2, for every verb and the help" {
  make_filter
  for verb in --help --version help "help screen" "screen -h" "screen --version" \
    "screen filter keys" "screen -c filter keys" "screen -n filter keys" \
    "info filter" "info --json filter" "verify filter" "hash keys" kernels "kernels --json" \
    "plan --keys 1M --rate 1%"; do
    sh_run "\$1 $verb >/dev/full"
    [[ $status -eq 2 ]]
    is_message "write error: No space left on device"
  done
}

@test "a full device stops an endless screen" {
  make_filter
  sh_run 'yes key-00000001 | timeout 5 $1 screen filter >/dev/full'
  [[ $stderr == *"write error: No space left on device"* ]]
  [[ $status -ne 124 ]]
}

@test "nothing to write: a full device does not matter" {
  make_filter
  sh_run '$1 screen -q filter keys >/dev/full'
  [[ $status -eq 0 && -z $stderr ]]
  sh_run 'echo absent | $1 screen --kernel scalar filter >/dev/full'
  [[ $status -eq 1 && -z $stderr ]]
}

@test "a closed pipe ends quietly" {
  make_filter
  for verb in "screen filter keys" "screen -n filter keys" "hash keys"; do
    sh_run "\$1 $verb | head -n 1"
    [[ $status -eq 141 && ${#lines[@]} -eq 1 && -z $stderr ]]
    sh_run "trap '' PIPE; \$1 $verb | head -n 1"
    [[ $status -eq 2 && ${#lines[@]} -eq 1 && -z $stderr ]]
  done
  sh_run "trap '' PIPE; \$1 build -o - keys | true"
  [[ $status -eq 2 && -z $stderr ]]
}

@test "closed standard descriptors" {
  make_filter
  sh_run '$1 screen filter <&-'
  [[ $status -eq 2 ]]
  is_message "(standard input): Bad file descriptor"
  sh_run '$1 screen filter keys >&-'
  [[ $status -eq 2 ]]
  is_message "write error: Bad file descriptor"
  sh_run '$1 screen -q filter keys >&-'
  [[ $status -eq 0 && -z $stderr ]]
  sh_run '$1 screen filter missing 2>&-'
  [[ $status -eq 2 ]]
  sh_run '$1 build -o other keys <&- >&- 2>&-'
  [[ $status -eq 0 ]]
  cmp filter other
}

@test "a closed standard input is an error under every name" {
  make_filter
  for command in 'screen filter -' 'screen filter /dev/stdin' 'add filter -' 'build -o other -' \
    'build -o other /dev/stdin' 'info -' \
    'info --raw --format leveldb -' 'verify -' 'merge -o other -' 'merge -o other /dev/stdin' \
    'screen --raw --format leveldb - keys' \
      'screen /dev/stdin keys' 'hash -'; do
    sh_run "\$1 $command <&-"
    [[ $status -eq 2 && -z $output && ${#stderr_lines[@]} -eq 1 ]] ||
      { echo "$command: $status, $output$stderr"; false; }
  done
  [[ ! -e other ]]
}

@test "a filter on standard input is read from where it stands" {
  make_filter
  { printf 12345; cat filter; } >longer
  { dd bs=5 count=1 status=none >/dev/null; lanebloom screen -c - keys; } <longer
  lanebloom screen -c /dev/fd/7 keys 7<filter
}

@test "a target that cannot be written is refused before any input is read" {
  mkdir folder closed
  : >closed/old
  chmod 555 closed
  ln -s folder to-folder
  ln -s missing/filter to-missing
  ln -s closed/filter to-closed
  mkfifo shut
  chmod 444 shut
  for raw in "" --raw; do
    fails_with "missing/filter: No such file or directory" \
      without_input "$LANEBLOOM" build $raw -o missing/filter
    fails_with "to-missing: No such file or directory" \
      without_input "$LANEBLOOM" build $raw -o to-missing
    fails_with "folder: Is a directory" without_input "$LANEBLOOM" build $raw -o folder
    fails_with "to-folder: Is a directory" without_input "$LANEBLOOM" build $raw -o to-folder
    fails_with "filter/: " without_input "$LANEBLOOM" build $raw -o filter/
    fails_with "folder/old/filter: " without_input "$LANEBLOOM" build $raw -o folder/old/filter
    for target in closed/filter closed/old to-closed shut; do
      fails_with "$target: Permission denied" \
        without_input "${unprivileged[@]}" "$LANEBLOOM" build $raw -o $target
    done
    sh_run "mkfifo -m 600 open; timeout 5 \$1 build $raw -o - 0<>open 1<closed/old; status=\$?
      rm open; exit \$status"
    [[ $status -eq 2 ]]
    is_message "(standard output): Bad file descriptor"
  done
  [[ -z $(ls -A folder) && $(ls -A closed) == old ]]
}

@test "a target that can be written is not refused" {
  numbers 1 100 >keys
  lanebloom build -o filter keys
  mkdir closed
  : >closed/old
  chmod 444 closed/old
  mkfifo pipe
  ln -s closed/new link
  "${unprivileged[@]}" "$LANEBLOOM" build -o closed/old keys
  cmp filter closed/old
  lanebloom build -o link keys
  cmp filter closed/new
  [[ -L link ]]
  exec 7>closed/kept
  chmod 555 closed
  "${unprivileged[@]}" "$LANEBLOOM" build -o - keys >&7
  exec 7>&-
  cmp filter closed/kept
  chmod 755 closed
  exec 7>closed/kept
  chmod 555 closed
  "${unprivileged[@]}" "$LANEBLOOM" build -o /dev/fd/7 keys
  exec 7>&-
  cmp filter closed/kept
  cat pipe >copy &
  timeout 5 "$LANEBLOOM" build -o pipe keys
  wait $!
  cmp filter copy
}

@test "extract: a target that cannot be written is refused before the table is read" {
  mkdir folder
  fails_with "folder: Is a directory" lanebloom extract missing.sst -o folder
  fails_with "none/filter: No such file or directory" lanebloom extract missing.sst -o none/filter
}

@test "a limit on file size is an error, and leaves nothing" {
  numbers 1 100000 >keys
  sh_run 'ulimit -f 10; $1 build -o filter keys'
  [[ $status -eq 2 ]]
  is_message "filter: File too large"
  [[ $(ls -A) == keys ]]
}

@test "inputs that fail to open or read" {
  make_filter
  for bad in missing . /proc/self/mem keys/below; do
    sh_run "\$1 screen filter $bad"
    [[ $status -eq 2 && -z $output && $stderr == "lanebloom: $bad: "* &&
      ${#stderr_lines[@]} -eq 1 ]]
    sh_run "\$1 hash $bad"
    [[ $status -eq 2 && $stderr == "lanebloom: $bad: "* && ${#stderr_lines[@]} -eq 1 ]]
  done
}

@test "messages name files in one line, whatever their names" {
  make_filter
  fails_with 'two\012lines: No such file or directory' lanebloom screen filter $'two\nlines'
  fails_with 'esc\033[31m: No such file or directory' lanebloom screen $'esc\033[31m' keys
  fails_with 'invalid\377: No such file or directory' lanebloom hash $'invalid\377'
  fails_with 'marks\330\234\342\200\216\342\200\217: No such file or directory' \
    lanebloom hash $'marks\u061c\u200e\u200f'
  fails_with 'grün: No such file or directory' lanebloom hash 'grün'
  fails_with 'two\012lines/filter: No such file or directory' \
    lanebloom build -o $'two\nlines/filter' keys
  fails_with "found 'a\\012b'" env LANEBLOOM_KERNEL=$'a\nb' "$LANEBLOOM" kernels
}

@test "memory that is not there" {
  address_space_can_be_limited ||
    skip "this binary reserves address space, as sanitizers and emulators do"
  numbers 1 10 >keys
  lanebloom build -o filter keys
  head -c 200000000 /dev/zero >line
  sh_run 'ulimit -v 100000; $1 screen filter line'
  [[ $status -eq 2 ]]
  is_message "memory" # glibc: Cannot allocate memory
  sh_run 'ulimit -v 100000; $1 info --raw --format leveldb line'
  [[ $status -eq 2 ]]
  is_message "line: out of memory: expected 200 MB more to hold the whole file; end other programs"
  sh_run 'ulimit -v 100000; $1 screen -c filter - keys <line'
  [[ $status -eq 2 ]]
  is_message "memory"
  head -c 40000000 /dev/urandom >many
  for jobs in -j1 -j2; do
    sh_run "ulimit -v 40000; \$1 build $jobs --width 8 -o other many"
    [[ $status -eq 2 ]]
    is_message "--expected N"
    sh_run "ulimit -v 40000; \$1 build $jobs --width 8 -o other --expected 5000000 many"
    [[ $status -eq 0 && -z $stderr ]]
  done
}

@test "an input that is also the output is named first, and each message says what to do" {
  numbers 1 100 >keys
  for command in "build -o keys keys" "build --force -o keys keys" "extract keys -o keys"; do
    read -ra words <<<"$command"
    fails_with "input file is also the output: write to another file" lanebloom "${words[@]}"
  done
  [[ $(wc -l <keys) == 100 ]]
  fails_with "\`screen --parquet' the Parquet files of a folder" lanebloom info .
  mkdir db
  fails_with "without it, \`tables' lists the tables of a database" lanebloom tables --summary db
}
