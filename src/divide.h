/* Divides by multiplying with a reciprocal, because vector instructions have no integer division,
 * and the scalar division takes longer than a load from the second-level cache.
 *
 * The quotient is exact, and the computation fits into 64 bits:
 *
 *   floor(n / d) = (n * multiplier + addend) >> shift
 *
 * Let s = floor(log2 d), so that 2^s <= d < 2^(s+1), and let m be the multiplier and p the shift.
 * There are two ways to choose m:
 *
 * - m is rounded up, and there is no addend. Let m * d = 2^p + e with 0 <= e. Then
 *   n * m / 2^p = n / d + n * e / (d * 2^p), and the floor is right if the second term is less than
 *   1 / d, which is the least distance from n / d up to the next whole number. So the condition is
 *   n * e < 2^p.
 * - m is rounded down, and the addend is m. Let m * d = 2^p - e with 0 < e. Then
 *   (n + 1) * m / 2^p = (n + 1) / d - (n + 1) * e / (d * 2^p),
 *   and the floor is right if the second term is more than 0 and at most 1 / d. So the condition is
 *   (n + 1) * e <= 2^p.
 *
 * (A. D. Robison, N-bit unsigned division via N-bit multiply-add, 17th IEEE symposium on computer
 * arithmetic, 2005.)
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_DIVIDE_H
#define LANEBLOOM_DIVIDE_H

#include <stdint.h>

struct reciprocal {
  uint32_t multiplier, addend;
  uint32_t shift; /* 31 to 63 */
};

static inline uint32_t divide(uint32_t n, struct reciprocal reciprocal)
{
  return (uint32_t)(((uint64_t)n * reciprocal.multiplier + reciprocal.addend) >> reciprocal.shift);
}

/* Returns a reciprocal for n below 2^29 and a divisor of 1 or more, with addend 0. The multiplier
 * is rounded up, with p = s + 31. Then m <= 2^31 and e < d < 2^(s+1), so n * e < 2^(s+30) < 2^p. */
static inline struct reciprocal reciprocal_29(uint32_t divisor)
{
  const uint32_t shift = 31 + (31 - (uint32_t)__builtin_clz(divisor));
  return (struct reciprocal){(uint32_t)((((uint64_t)1 << shift) + divisor - 1) / divisor), 0,
                             shift};
}

/* Returns a reciprocal for every n of 32 bits and a divisor of 1 or more, with p = s + 32. If the
 * multiplier is rounded down, e is from 1 to d. If e <= 2^s, rounding down is exact, because then
 * (n + 1) * e <= 2^(32+s). Otherwise the multiplier is rounded up, with the error d - e < 2^s, so
 * n * (d - e) < 2^(32+s). For a power of two, e = d = 2^s and m = 2^32 - 1. */
static inline struct reciprocal reciprocal_32(uint32_t divisor)
{
  const uint32_t s = 31 - (uint32_t)__builtin_clz(divisor);
  const uint64_t power = (uint64_t)1 << (32 + s);
  const uint32_t down = (uint32_t)((power - 1) / divisor);
  const uint64_t error = power - (uint64_t)down * divisor;
  if (error <= (uint64_t)1 << s)
    return (struct reciprocal){down, down, 32 + s};
  return (struct reciprocal){down + 1, 0, 32 + s};
}

/* Returns a reciprocal for n of at most 2^31 and a divisor of 1 or more, with addend 0. The
 * multiplier is rounded up. For a power of two, p = s + 31 and e = 0. For other divisors,
 * p = s + 32. Then m < 2^32, because d > 2^s, and e < d < 2^(s+1), so n * e < 2^(s+32) = 2^p. */
static inline struct reciprocal reciprocal_31(uint32_t divisor)
{
  const uint32_t s = 31 - (uint32_t)__builtin_clz(divisor);
  const uint32_t shift = (divisor & (divisor - 1)) == 0 ? 31 + s : 32 + s;
  return (struct reciprocal){(uint32_t)((((uint64_t)1 << shift) + divisor - 1) / divisor), 0,
                             shift};
}

#endif
