#!/usr/bin/env bats
# The programs of examples/ladder are short, compile alone, and detect planted errors.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

setup() {
  cp "$SOURCE_DIR"/examples/ladder/*.[ch] "$BATS_TEST_TMPDIR"
  cd "$BATS_TEST_TMPDIR"
}

# Succeeds if the CPU that runs the step has the step's instructions.
runs() { # STEP
  case $("$CC" -dumpmachine):$1 in
    x86_64*:*-avx2-*) grep -qw avx2 /proc/cpuinfo ;;
    aarch64*:*-neon-*) true ;;
    *-avx2-* | *-neon-*) false ;;
  esac
}

# Compiles a step as a reader would, and runs it for a short time.
climb() { # STEP
  local flags=()
  [[ $1 != *-avx2-* ]] || flags=(-mavx2)
  "$CC" -O2 "${flags[@]}" -o step "$1"
  # shellcheck disable=SC2086 # none, or a command
  $EMULATOR ./step 1 16
}

# Changes a step with a sed command.
broken() { # STEP COMMAND
  sed -i "$2" "$1"
  ! cmp -s "$1" "$SOURCE_DIR/examples/ladder/$1" || { echo "$1: nothing to break by $2"; false; }
}

@test "each step has fewer than 100 lines, and a link in the document" {
  steps=([0-9]*.c)
  [ ${#steps[@]} -ge 13 ]
  for step in "${steps[@]}"; do
    [ "$(wc -l <"$step")" -lt 100 ] || { echo "$step is too long"; false; }
    grep -qF "(../examples/ladder/$step)" "$SOURCE_DIR/docs/how-the-kernels-work.md" ||
      { echo "no link to $step"; false; }
  done
}

@test "a broken step reports that answers differ" {
  ntried=0
  while read -r step command; do
    runs "$step" || continue
    cp "$SOURCE_DIR/examples/ladder/$step" .
    broken "$step" "$command"
    run climb "$step"
    echo "$step $command: $output"
    [ "$status" = 1 ]
    grep -qE '^not ok - step [0-9]+: .*: [1-9][0-9]* of [0-9]+ answers differ$' <<<"$output"
    ntried=$((ntried + 1))
  done <<'END'
00-scalar.c s/hash << 15/hash << 14/
00-scalar.c s/return true/return false/
01-reciprocal.c s/position % 8/position % 4/
02-no-branch.c s/all &=/all =/
03-avx2-gathers.c s/probes, 17)/probes, 16)/
03-avx2-gathers.c s/set1_epi32(31)/set1_epi32(30)/
04-avx2-compaction.c s/ = lane;/ = 7 - lane;/
04-avx2-compaction.c s/ & last;/;/
05-avx2-loads.c s/at\[7\]/at[6]/
05-avx2-loads.c s/ & last;/;/
06-avx2-one-line.c s/bit % 8/bit % 4/
06-avx2-one-line.c s/(line + 32)/line/
07-avx2-prefetching.c s/(probes, 23)/(probes, 22)/
07-avx2-prefetching.c s/BLOCK_NKEYS % 2\]/BLOCK_NKEYS % 1]/
08-avx2-hashing.c s/0xd8/0xe4/
08-avx2-hashing.c s/return bloomhash(key)/return bloomhash(key) + 1/
09-neon-loads.c s/bytes, 7)/bytes, 6)/
09-neon-loads.c s/hashes, 17)/hashes, 16)/
10-neon-compaction.c s/2, 4, 8/2, 4, 4/
10-neon-compaction.c s/n, p, positions)/n, 0, positions)/
11-neon-one-line.c s/(upper, 7)/(upper, 8)/
11-neon-one-line.c s/hashes\[3\]/hashes[2]/
12-neon-hashing.c s/low.val\[1\]/low.val[0]/
END
  [ "$ntried" -ge 4 ]
}

@test "a load past the end of the filter ends the program" {
  broken 00-scalar.c 's|position / 8\]|position / 8 + 1]|'
  run climb 00-scalar.c
  [ "$status" = 139 ] # ended by SIGSEGV
}

@test "gathered dwords that are not aligned reach past the end" {
  runs 03-avx2-gathers.c || skip "no AVX2"
  broken 03-avx2-gathers.c 's/payload % 4;/payload % 1;/'
  run climb 03-avx2-gathers.c
  [ "$status" = 139 ]
}

@test "run.sh prints tables of all steps, with the names that they have in the document" {
  [ -z "$EMULATOR" ] || skip "run.sh compiles for the machine it runs on"
  "$SOURCE_DIR/examples/ladder/run.sh" 1 16 >tables 2>progress
  cat tables progress
  for step in [0-9]*.c; do # in alphabetical order
    echo "$step"
  done >steps
  sed 's/ .*//' progress | diff steps -
  sed -n 's/^| \([0-9]*: [^|]*\) |.*/\1/p' tables >names
  [ "$(wc -l <names)" -ge 3 ]
  while read -r name; do
    grep -qF "| $name |" "$SOURCE_DIR/docs/how-the-kernels-work.md" ||
      { echo "the document has no row $name"; false; }
  done <names
}

@test "run.sh refuses what it cannot run, and says what it takes" {
  while read -r expected arguments; do
    # shellcheck disable=SC2086 # words
    run --separate-stderr "$SOURCE_DIR/examples/ladder/run.sh" $arguments
    echo "$arguments: $stderr"
    [ "$status" = 2 ]
    [ -z "$output" ]
    [[ ${stderr_lines[0]} == "run.sh: "*"${expected//_/ }"* ]]
    [[ ${stderr_lines[1]} == "usage: "*"16 KiB"* ]]
  done <<'END'
KIB_is_at_least_16 1 15
KIB_is_at_least_16 1 0
ROUNDS_is_at_least_1 0
expected_a_number -h
expected_a_number 1 x
expected_a_number 1:2
at_most_two_arguments 1 16 16
END
}
