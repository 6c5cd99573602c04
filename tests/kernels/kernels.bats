#!/usr/bin/env bats
# LANEBLOOM_TEST_KERNEL selects one kernel of the table {kernel x case}.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

@test "a kernel that is not there fails, and is named" {
  LANEBLOOM_TEST_KERNEL=nonsense run ! "$KERNELS" --tap=/dev/stdout
  [[ $output == *"not ok - kernels::agree"* ]]
  [[ $output == *"LANEBLOOM_TEST_KERNEL=nonsense is no kernel of this build and CPU"* ]]
}
