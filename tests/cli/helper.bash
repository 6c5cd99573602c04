# Shared by the tests of the command. $LANEBLOOM is the binary. Every test starts in its own folder.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

# bats records the line of each command in case it fails, so each command of bash takes 0.3 ms. This
# function records only the line of the command that failed. `run' then takes a third of the time.
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
  mkdir "$BATS_TEST_TMPDIR/work" # bats has its own files in the folder above
  cd "$BATS_TEST_TMPDIR/work" || return 1
}

lanebloom() {
  "$LANEBLOOM" "$@"
}

# exhaustive: succeeds if all cases are tried, and fails if only a selection is
# (LANEBLOOM_EXHAUSTIVE_TESTS in CMake).
exhaustive() {
  [[ ${LANEBLOOM_EXHAUSTIVE:-} == 1 ]]
}

# numbers FIRST LAST: prints these numbers as keys, one per line of twelve characters.
numbers() {
  seq -f 'key-%08.0f' "$1" "$2"
}

# records N [OPTIONS] <input: checks that the input holds N records and that all are selected.
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

# holds FILE EXPECTED: checks that the file holds exactly what printf prints for EXPECTED.
holds() {
  printf "$2" | cmp - "$1"
}

# is_message TEXT: checks that the last run printed one line on standard error, which contains TEXT,
# and nothing else.
is_message() {
  [[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == "lanebloom: "*"$1"* ]] ||
    { echo "standard output: $output"; echo "standard error: $stderr"; return 1; }
}

# is_usage_error TEXT: checks that the last run had status 2, and printed only TEXT and how to get
# help.
is_usage_error() {
  [[ $status -eq 2 && -z $output && $stderr == "lanebloom"*"$1"*"Try "*"--help"* ]] ||
    { echo "status: $status, standard output: $output"; echo "standard error: $stderr"; return 1; }
}

# fails_with TEXT COMMAND...: checks that the command has status 2 and prints this message.
fails_with() {
  local text=$1
  shift
  run -2 --separate-stderr "$@"
  is_message "$text"
}

# refuses TEXT COMMAND...: checks that the command reports this usage error.
refuses() {
  local text=$1
  shift
  run --separate-stderr "$@"
  is_usage_error "$text"
}

# Succeeds if the program runs with little address space.
address_space_can_be_limited() {
  (ulimit -v 100000 && lanebloom --version) >/dev/null 2>&1
}

# without_input COMMAND...: runs the command with a pipe on standard input that stays open and
# empty.
without_input() {
  [[ -p quiet ]] || mkfifo quiet
  timeout 5 "$@" 0<>quiet
}

# on_terminal COMMAND...: runs the command with its output on a terminal, whose text goes to the
# file `terminal`. SHELL is set because script would run $SHELL, which may not understand %q.
on_terminal() {
  SHELL=$BASH script -qefc "$(printf '%q ' "$@")" terminal >/dev/null </dev/null
}

needs_terminal() {
  command -v script >/dev/null || skip "script (Debian: bsdutils) makes a terminal"
  on_terminal true || skip "no terminal can be made: /dev/pts is not mounted"
}

# says_where_pages_are_lost: succeeds if a lost page of a file can be reported. qemu's s390x does
# not tell which page is lost. So SIGBUS ends the command there, as if a page of the program were
# lost.
says_where_pages_are_lost() {
  [[ $BUILD_DIR != */s390x ]]
}

# peak COMMAND...: prints the most memory that the command used, in kB.
peak() {
  python3 - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}

# names_pointer FILE COMMAND...: replaces the file by a pointer of Git LFS, and checks that the
# command fails and names the file. Then restores the file.
names_pointer() {
  local file=$1
  shift
  mv "$file" original
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12345\n' 7 >"$file"
  fails_with "${file##*/}: expected the file itself, found a pointer of Git LFS to it; \
\`git lfs pull' fetches the file" "$@"
  mv original "$file"
}
