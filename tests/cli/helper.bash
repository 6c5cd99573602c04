# What the tests of the command share. $LANEBLOOM is the binary; every test starts in a folder of
# its own.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

# bats keeps the line of each command for the case that it fails, and so makes a command of bash
# take 0.3 ms. The line of the one that failed says the same, and \`run' takes a third of the time.
where() {
  bats_capture_stack_trace
}

setup() {
  trap - DEBUG
  trap 'bats_error_trap; where' ERR
  [[ -x $LANEBLOOM ]] || { echo "LANEBLOOM names no program: '$LANEBLOOM'"; return 1; }
  LANEBLOOM=$(realpath "$LANEBLOOM")
  unset LANEBLOOM_KERNEL
  unprivileged=() # a command after this is held by permissions, root's too
  [[ $(id -u) -ne 0 ]] || unprivileged=(setpriv --inh-caps=-all --bounding-set=-all)
  mkdir "$BATS_TEST_TMPDIR/work" # bats keeps files of its own beside it
  cd "$BATS_TEST_TMPDIR/work" || return 1
}

lanebloom() {
  "$LANEBLOOM" "$@"
}

# exhaustive: whether to try all cases and not a selection: LANEBLOOM_EXHAUSTIVE_TESTS says so in
# CMake.
exhaustive() {
  [[ ${LANEBLOOM_EXHAUSTIVE:-} == 1 ]]
}

# numbers FIRST LAST: as lines of twelve characters.
numbers() {
  seq -f 'key-%08.0f' "$1" "$2"
}

# holds FILE EXPECTED: the file is exactly what printf makes of EXPECTED.
holds() {
  printf "$2" | cmp - "$1"
}

# is_message TEXT: the last run printed nothing but one line on standard error, which has TEXT in
# it.
is_message() {
  [[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == "lanebloom: "*"$1"* ]] ||
    { echo "standard output: $output"; echo "standard error: $stderr"; return 1; }
}

# is_usage_error TEXT: the same, followed by where to find help; the status was 2.
is_usage_error() {
  [[ $status -eq 2 && -z $output && $stderr == "lanebloom"*"$1"*"Try "*"--help"* ]] ||
    { echo "status: $status, standard output: $output"; echo "standard error: $stderr"; return 1; }
}

# fails_with TEXT COMMAND...: status 2 and a message.
fails_with() {
  local text=$1
  shift
  run -2 --separate-stderr "$@"
  is_message "$text"
}

# refuses TEXT COMMAND...: a usage error.
refuses() {
  local text=$1
  shift
  run --separate-stderr "$@"
  is_usage_error "$text"
}

# The program runs at all where address space is short.
address_space_can_be_limited() {
  (ulimit -v 100000 && lanebloom --version) >/dev/null 2>&1
}

# without_input COMMAND...: standard input is a pipe that stays open and says nothing.
without_input() {
  [[ -p quiet ]] || mkfifo quiet
  timeout 5 "$@" 0<>quiet
}

# on_terminal COMMAND...: its output is a terminal's, whose text goes to the file `terminal`. script
# runs $SHELL, or else one that does not read what %q writes.
on_terminal() {
  SHELL=$BASH script -qefc "$(printf '%q ' "$@")" terminal >/dev/null </dev/null
}

needs_terminal() {
  command -v script >/dev/null || skip "script (Debian: bsdutils) makes a terminal"
  on_terminal true || skip "no terminal can be made: /dev/pts is not mounted"
}

# says_where_pages_are_lost: qemu's s390x does not say which page is gone, so that the command ends
# by SIGBUS, as it does where a page of the program itself is lost.
says_where_pages_are_lost() {
  [[ $BUILD_DIR != */s390x ]]
}
