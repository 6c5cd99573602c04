#!/usr/bin/env bats
# scripts/test.sh counts failures and names what failed.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

# Makes a project with the preset "quick" and the tests of tests.cmake. test.sh tests it as its own
# project.
setup() {
  cd "$BATS_TEST_TMPDIR"
  mkdir scripts
  cp "$SOURCE_DIR/scripts/test.sh" scripts/
  printf '#!/bin/sh\n' >scripts/setup.sh
  chmod +x scripts/setup.sh
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(played NONE)' 'enable_testing()' \
    'include(tests.cmake)' 'set_tests_properties(${tests} PROPERTIES LABELS verbs)' \
    >CMakeLists.txt
  cat >CMakePresets.json <<'END'
{"version": 6,
 "configurePresets": [{"name": "quick", "generator": "Ninja", "binaryDir": "build/quick"}],
 "buildPresets": [{"name": "quick", "configurePreset": "quick"}],
 "testPresets": [{"name": "quick", "configurePreset": "quick"}]}
END
}

@test "test.sh counts what passes, fails and is skipped" {
  printf '%s\n' 'set(tests good)' 'add_test(NAME good' \
    'COMMAND sh -c "echo ok 1 a; echo ok 2 b \\# skip; echo ok 3 c")' >tests.cmake
  run scripts/test.sh
  echo "$output"
  [[ $status -eq 0 && ${lines[-1]} == "total: 2 passed, 0 failed, 1 skipped" ]]
}

@test "test.sh counts and names tests that time out, crash or are missing" {
  cat >tests.cmake <<'END'
add_test(NAME good COMMAND sh -c "echo ok 1 a; echo ok 2 b")
add_test(NAME bad COMMAND sh -c "echo ok 1 a; echo not ok 2 b; exit 1")
add_test(NAME slow COMMAND sh -c "echo ok 1 a; exec sleep 60")
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(NAME crash COMMAND sh -c "echo ok 1 a; ulimit -c 0; kill -SEGV \$\$")
add_test(NAME missing COMMAND /no/such/program)
set(tests good bad slow crash missing)
END
  run --separate-stderr scripts/test.sh
  echo "$output"
  [[ $status -eq 1 && ${lines[-1]} == "total: 5 passed, 4 failed, 0 skipped" ]]
  # shellcheck disable=SC2154 # set by run
  [[ ${stderr_lines[-1]} == "failed: quick bad slow crash missing" ]]
}

@test "test.sh counts a step without results as a failure" {
  echo 'message(FATAL_ERROR "broken")' >tests.cmake
  run --separate-stderr scripts/test.sh
  [[ $status -eq 1 && ${lines[-1]} == "total: 0 passed, 1 failed, 0 skipped" ]]
  [[ ${stderr_lines[-1]} == "failed: quick" ]]
}

# The budgets are those in test.sh. Later the test changes one of them.
@test "test.sh names the slowest tests and what is beyond its budget" {
  cat >tests.cmake <<'END'
foreach(n RANGE 1 12)
  add_test(NAME t${n} COMMAND sh -c "echo ok 1 a")
  list(APPEND tests t${n})
endforeach()
add_test(NAME slow COMMAND sh -c "sleep 1.1; echo ok 1 a")
list(APPEND tests slow)
END
  echo 'sleep 1.1' >>scripts/setup.sh # this step has no budget
  run scripts/test.sh
  echo "$output"
  [[ $status -eq 0 && $output != *warning* ]]
  slowest=$(sed -n '/^The slowest tests/,/^Times/p' <<<"$output")
  [[ $(grep -c ' quick ' <<<"$slowest") -eq 10 ]]
  [[ $(sed -n 2p <<<"$slowest") == *" quick "*" slow" ]]
  [[ $output == *"  quick of 1:30"*"  total of 1:30"* ]]
  sed -i 's/^quick  *quick  *[0-9.]*/quick quick 0/' scripts/test.sh
  run scripts/test.sh
  echo "$output"
  [[ $status -eq 0 && $output == *"warning: quick took 0:0"*" of 0:00 minutes"* ]]
  [[ ${lines[-1]} == "total: 13 passed, 0 failed, 0 skipped" ]]
}

@test "test.sh runs the steps of a round that are named, and no others" {
  printf '%s\n' 'set(tests good)' 'add_test(NAME good COMMAND sh -c "echo ok 1 a")' >tests.cmake
  run scripts/test.sh quick
  [[ $status -eq 0 && ${lines[-1]} == "total: 1 passed, 0 failed, 0 skipped" ]]
  for wrong in none --none "--all dev none" "--presubmit quick" total; do
    read -ra arguments <<<"$wrong"
    run scripts/test.sh "${arguments[@]}"
    [[ $status -eq 2 && $output == usage:* ]]
  done
}

@test "setup.sh explains itself, and what is no step" {
  run -0 --separate-stderr "$SOURCE_DIR/scripts/setup.sh" --help
  [[ $output == "Usage: scripts/setup.sh STEP..."* && -z $stderr ]]
  for step in $(sed -n 's/^    \([a-z0-9-]*\)).*/\1/p' "$SOURCE_DIR/scripts/setup.sh"); do
    grep -qw -- "$step" <<<"$output"
  done
  usage=$output
  run -2 --separate-stderr "$SOURCE_DIR/scripts/setup.sh"
  [[ $stderr == "$usage" && -z $output ]]
  for word in buidl --frobnicate ""; do
    run -2 --separate-stderr "$SOURCE_DIR/scripts/setup.sh" build "$word"
    [[ $stderr == "setup.sh: expected a step, found '$word'"*"$usage" && -z $output ]]
  done
}
