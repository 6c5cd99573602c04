/* The few functions and macros of Criterion that the tests use, for builds in which Criterion
 * cannot start.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PLAIN_CRITERION_H
#define LANEBLOOM_PLAIN_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct criterion_test_params {
  size_t size; /* bytes per parameter */
  void *params;
  size_t length;
};

struct plain_test {
  const char *suite, *name;
  void (*run)(void);
  void (*run_with)(void *param);
  struct criterion_test_params (*params)(void);
  struct plain_test *next;
};

void plain_register(struct plain_test *test);
__attribute__((noreturn)) void plain_skip(const char *reason);
__attribute__((noreturn, format(printf, 4, 5))) void
plain_fail(const char *file, int line, const char *condition, const char *text, ...);

#define PLAIN_REGISTER(suite_, name_, ...)                                                         \
  __attribute__((constructor)) static void suite_##_##name_##_register(void)                       \
  {                                                                                                \
    static struct plain_test test = {.suite = #suite_, .name = #name_, __VA_ARGS__};               \
    plain_register(&test);                                                                         \
  }

#define Test(suite_, name_)                                                                        \
  static void suite_##_##name_(void);                                                              \
  PLAIN_REGISTER(suite_, name_, .run = suite_##_##name_)                                           \
  static void suite_##_##name_(void)

#define cr_assert(condition, ...)                                                                  \
  ((condition) ? (void)0 : plain_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__))
#define cr_assert_str_eq(found, expected, ...)                                                     \
  cr_assert(strcmp(found, expected) == 0, "" __VA_ARGS__)
#define cr_assert_fail(...) plain_fail(__FILE__, __LINE__, "", " " __VA_ARGS__)
#define cr_skip_test(reason) plain_skip(reason)
#define cr_fatal(...) plain_fail(__FILE__, __LINE__, "", " " __VA_ARGS__)

#endif
