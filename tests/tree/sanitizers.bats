#!/usr/bin/env bats
# Each sanitizer of this build must report the fault that canary.c plants for it, in words that fail
# every other test.
# SPDX-License-Identifier: MIT

report='runtime error:|(Address|Leak|Thread|Memory)Sanitizer' # as in tests/CMakeLists.txt

sings() { # FAULT WORDS
  CANARY_FAULT=$1 run "$CANARY"
  echo "$output"
  [[ $output =~ $2 ]] && [[ $output =~ $report ]]
}

# bats test_tags=address,undefined,thread
@test "nothing is reported where nothing is planted" {
  CANARY_FAULT= run "$CANARY"
  [ "$status" = 0 ]
  [[ ! $output =~ $report ]]
}

# bats test_tags=address
@test "a leak" {
  sings leak "LeakSanitizer: detected memory leaks"
}

# bats test_tags=address
@test "an out-of-bounds read" {
  sings out-of-bounds "AddressSanitizer: heap-buffer-overflow"
}

# bats test_tags=undefined
@test "a signed overflow" {
  sings overflow "runtime error: signed integer overflow"
}

# bats test_tags=thread
@test "a race" {
  sings race "ThreadSanitizer: data race"
}
