#!/usr/bin/env bats
# scripts/test.sh counts and names what fails.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

# A project with the preset "dev" and the tests of tests.cmake, which test.sh takes for its own.
setup() {
  cd "$BATS_TEST_TMPDIR"
  mkdir scripts
  cp "$SOURCE_DIR/scripts/test.sh" scripts/
  printf '#!/bin/sh\n' >scripts/setup.sh
  chmod +x scripts/setup.sh
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(played NONE)' 'enable_testing()' \
    'include(tests.cmake)' >CMakeLists.txt
  cat >CMakePresets.json <<'END'
{"version": 6,
 "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "build/dev"}],
 "testPresets": [{"name": "dev", "configurePreset": "dev"}],
 "workflowPresets": [{"name": "dev", "steps": [{"type": "configure", "name": "dev"},
                                               {"type": "test", "name": "dev"}]}]}
END
}

@test "test.sh counts what passes, fails and is skipped" {
  echo 'add_test(NAME good' \
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
END
  run --separate-stderr scripts/test.sh
  echo "$output"
  [[ $status -eq 1 && ${lines[-1]} == "total: 5 passed, 4 failed, 0 skipped" ]]
  # shellcheck disable=SC2154 # set by run
  [[ ${stderr_lines[-1]} == "failed: dev bad slow crash missing" ]]
}
