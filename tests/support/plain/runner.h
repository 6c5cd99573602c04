/* The part of the runner that each system has its own of: how a test runs, and how it ends early.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PLAIN_RUNNER_H
#define LANEBLOOM_PLAIN_RUNNER_H

#include "criterion/criterion.h"

enum plain_result { PASSED, FAILED, SKIPPED = 77 };

/* Runs a test, with param if it is not NULL, until the test returns or calls plain_end(). */
enum plain_result plain_run(const struct plain_test *test, void *param);
__attribute__((noreturn)) void plain_end(enum plain_result result);

#endif
