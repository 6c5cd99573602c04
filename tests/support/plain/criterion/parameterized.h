/* Criterion's parameterized tests, reduced like criterion.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PLAIN_CRITERION_PARAMETERIZED_H
#define LANEBLOOM_PLAIN_CRITERION_PARAMETERIZED_H

#include "criterion.h"

#define cr_make_param_array(type, array, length_)                                                  \
  ((struct criterion_test_params){sizeof(type), (array), (length_)})

#define ParameterizedTestParameters(suite_, name_)                                                 \
  static struct criterion_test_params suite_##_##name_##_params(void)

#define ParameterizedTest(param_, suite_, name_)                                                   \
  static void suite_##_##name_(param_);                                                            \
  static void suite_##_##name_##_with(void *param)                                                 \
  {                                                                                                \
    suite_##_##name_(param);                                                                       \
  }                                                                                                \
  PLAIN_REGISTER(suite_, name_, .run_with = suite_##_##name_##_with,                               \
                 .params = suite_##_##name_##_params)                                              \
  static void suite_##_##name_(param_)

#endif
