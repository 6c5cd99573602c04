# Shared by the tests of the command. $LANEBLOOM is the binary; every test starts in a folder of its
# own.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

# bats records the line of each command in case it fails, which makes a command of bash take 0.3 ms.
# The line of the failed command gives the same information, and `run' takes a third of the time.
record_failed_line() {
  bats_capture_stack_trace
}

setup() {
  trap - DEBUG
  trap 'bats_error_trap; record_failed_line' ERR
  [[ -x $LANEBLOOM ]] || { echo "LANEBLOOM names no program: '$LANEBLOOM'"; return 1; }
  LANEBLOOM=$(realpath "$LANEBLOOM")
  unset LANEBLOOM_KERNEL
  unprivileged=() # a command with this prefix is bound by permissions, even if root runs it
  [[ $(id -u) -ne 0 ]] || unprivileged=(setpriv --inh-caps=-all --bounding-set=-all)
  mkdir "$BATS_TEST_TMPDIR/work" # bats keeps its own files beside it
  cd "$BATS_TEST_TMPDIR/work" || return 1
}

lanebloom() {
  "$LANEBLOOM" "$@"
}

# exhaustive: succeeds if all cases are to be tried, not a selection (LANEBLOOM_EXHAUSTIVE_TESTS in
# CMake).
exhaustive() {
  [[ ${LANEBLOOM_EXHAUSTIVE:-} == 1 ]]
}

# numbers FIRST LAST: prints them as lines of twelve characters.
numbers() {
  seq -f 'key-%08.0f' "$1" "$2"
}

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

# hashes [OPTION...] <input: prints the hash of each record's key.
hashes() {
  lanebloom hash "$@" | tr '\0' '\n' | grep -aoE '^[0-9a-f]{16}'$'\t' | cut -f 1
}

# holds FILE EXPECTED: the file holds exactly what printf prints for EXPECTED.
holds() {
  printf "$2" | cmp - "$1"
}

# is_message TEXT: the last run printed one line on standard error, which contains TEXT, and nothing
# else.
is_message() {
  [[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == "lanebloom: "*"$1"* ]] ||
    { echo "standard output: $output"; echo "standard error: $stderr"; return 1; }
}

# is_usage_error TEXT: the last run had status 2 and printed nothing but TEXT and where to find
# help.
is_usage_error() {
  [[ $status -eq 2 && -z $output && $stderr == "lanebloom"*"$1"*"Try "*"--help"* ]] ||
    { echo "status: $status, standard output: $output"; echo "standard error: $stderr"; return 1; }
}

# fails_with TEXT COMMAND...: the command has status 2 and prints this message.
fails_with() {
  local text=$1
  shift
  run -2 --separate-stderr "$@"
  is_message "$text"
}

# refuses TEXT COMMAND...: the command reports this usage error.
refuses() {
  local text=$1
  shift
  run --separate-stderr "$@"
  is_usage_error "$text"
}

# Succeeds if the program can run at all with little address space.
address_space_can_be_limited() {
  (ulimit -v 100000 && lanebloom --version) >/dev/null 2>&1
}

# without_input COMMAND...: runs it with a pipe on standard input that stays open and has no data.
without_input() {
  [[ -p quiet ]] || mkfifo quiet
  timeout 5 "$@" 0<>quiet
}

# on_terminal COMMAND...: runs it with a terminal as its output, whose text goes to the file
# `terminal`. script would run $SHELL, or a shell that cannot read the output of %q.
on_terminal() {
  SHELL=$BASH script -qefc "$(printf '%q ' "$@")" terminal >/dev/null </dev/null
}

needs_terminal() {
  command -v script >/dev/null || skip "script (Debian: bsdutils) makes a terminal"
  on_terminal true || skip "no terminal can be made: /dev/pts is not mounted"
}

# says_where_pages_are_lost: qemu's s390x does not report which page is lost, so the command is
# ended by SIGBUS, as it is if a page of the program itself is lost.
says_where_pages_are_lost() {
  [[ $BUILD_DIR != */s390x ]]
}
