/* Compares reciprocals with the CPU's own division.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "divide.h"
#include "support.h"

static void check(uint32_t n, uint32_t divisor, struct reciprocal reciprocal)
{
  if (divide(n, reciprocal) != n / divisor)
    test_fatal("%u / %u: %u", n, divisor, divide(n, reciprocal));
}

/* The quotient changes at multiples of the divisor, so an error shows there first. At large
 * multiples an error is more likely. */
static void check_divisor(struct rng *rng, uint32_t divisor, uint32_t max,
                          struct reciprocal reciprocal)
{
  const uint32_t nmultiples = max / divisor;
  for (uint32_t i = 0; i < 40; i++) {
    const uint32_t multiple = (uint32_t)(i < 8    ? i
                                         : i < 16 ? nmultiples - (i - 8)
                                                  : rng_below(rng, (size_t)nmultiples + 1));
    if (multiple > nmultiples)
      continue; /* the divisor has fewer than eight multiples */
    const uint32_t at = multiple * divisor;
    check(at, divisor, reciprocal);
    if (at > 0)
      check(at - 1, divisor, reciprocal);
    if (at < max)
      check(at + 1, divisor, reciprocal);
  }
  check(max, divisor, reciprocal);
}

static void check_all(struct rng *rng, uint32_t divisor)
{
  check_divisor(rng, divisor, (uint32_t)1 << 31, reciprocal_31(divisor));
  check_divisor(rng, divisor, UINT32_MAX, reciprocal_32(divisor));
  if (divisor <= (uint32_t)1 << 29)
    check_divisor(rng, divisor, ((uint32_t)1 << 29) - 1, reciprocal_29(divisor));
}

Test(divide, small_divisors)
{
  struct rng rng = rng_start(0);
  for (uint32_t divisor = 1; divisor < 100000; divisor++)
    check_all(&rng, divisor);
}

Test(divide, around_powers_of_two)
{
  struct rng rng = rng_start(1);
  for (uint64_t power = 1; power <= UINT32_MAX; power *= 2)
    for (uint64_t divisor = power > 300 ? power - 300 : 1;
         divisor <= power + 300 && divisor <= UINT32_MAX; divisor++)
      check_all(&rng, (uint32_t)divisor);
  check_all(&rng, UINT32_MAX);
}

Test(divide, random_divisors_of_every_size)
{
  struct rng rng = rng_start(2);
  for (uint32_t i = 0; i < 1000000; i++)
    check_all(&rng, (uint32_t)(rng_below(&rng, UINT32_MAX) >> i % 32) + 1);
}
