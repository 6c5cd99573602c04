/* Reads decimal numbers without rounding.
 * SPDX-License-Identifier: MIT */
#include "decimals.h"

static bool is_digit(const char *at, const char *end)
{
  return at < end && *at >= '0' && *at <= '9';
}

/* Returns the end of the exponent that begins at `at`, or NULL if the exponent has no digit. */
static const char *read_exponent(const char *at, const char *end, int64_t *exponent)
{
  /* Once the exponent has reached this limit, its further digits are ignored. With such an
   * exponent, a number other than 0 is in range only if its text has about as many zeros as the
   * exponent says, and no text is so long. */
  const int64_t most = INT64_C(100000000000000000);
  const bool is_negative = at < end && *at == '-';
  at += at < end && (*at == '-' || *at == '+');
  if (!is_digit(at, end))
    return NULL;
  *exponent = 0;
  for (; is_digit(at, end); at++)
    if (*exponent < most)
      *exponent = 10 * *exponent + (*at - '0');
  if (is_negative)
    *exponent = -*exponent;
  return at;
}

const char *decimal_read(const char *text, const char *end, struct decimal *number)
{
  const char *at = text;
  bool any = false, after_point = false;
  int64_t nzeros = 0, exponent = 0;
  *number = (struct decimal){0};
  for (; is_digit(at, end) || (at < end && *at == '.' && !after_point); at++) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    any = true;
    number->exponent -= after_point;
    nzeros++; /* counts this digit and the zeros directly before it */
    if (*at == '0')
      continue;
    for (; nzeros > 0; nzeros--)
      if (__builtin_mul_overflow(number->value, 10, &number->value))
        return NULL;
    if (__builtin_add_overflow(number->value, (unsigned)(*at - '0'), &number->value))
      return NULL;
  }
  if (!any)
    return NULL;
  if (at < end && (*at == 'e' || *at == 'E'))
    at = read_exponent(at + 1, end, &exponent);
  number->exponent += nzeros + exponent;
  return at;
}

bool decimal_compute(struct decimal number, unsigned __int128 *value)
{
  *value = number.value;
  for (; *value > 0 && number.exponent > 0; number.exponent--)
    if (__builtin_mul_overflow(*value, 10, value))
      return false;
  for (; *value > 0 && number.exponent < 0; number.exponent++) {
    if (*value % 10 != 0)
      return false;
    *value /= 10;
  }
  return true;
}
