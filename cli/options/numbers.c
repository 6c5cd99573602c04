/* Parses numbers as people write them: 1000000, 1e6, 1M; 64Ki; 0.01, 1%.
 * SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/decimals.h"
#include "options.h"

/* ---- Whole numbers, without rounding ---- */

/* If a unit comes next, multiplies the number by it. k, M, G and T are powers of 1000; Ki, Mi, Gi
 * and Ti are powers of 1024. Returns false if the number becomes too large. */
static bool read_unit(const char **text, struct decimal *number)
{
  static const char units[] = "kMGT";
  const char *unit = strchr(units, **text == 'K' ? 'k' : **text);
  if (**text == '\0' || !unit)
    return true;
  const int power = (int)(unit - units) + 1;
  const bool is_binary = (*text)[1] == 'i';
  *text += 1 + is_binary;
  if (is_binary)
    return !__builtin_mul_overflow(number->value, UINT64_C(1) << 10 * power, &number->value);
  number->exponent += INT64_C(3) * power;
  return true;
}

/* Reads a whole number, which may have a unit. The text may end there or with `suffix`. */
static bool read_count(const char *text, const char *suffix, uint64_t *value)
{
  struct decimal number;
  unsigned __int128 wide;
  text = decimal_read(text, text + strlen(text), &number);
  if (!text || !read_unit(&text, &number) || (*text != '\0' && strcmp(text, suffix) != 0) ||
      !decimal_compute(number, &wide) || wide == 0 || wide > UINT64_MAX)
    return false;
  *value = (uint64_t)wide;
  return true;
}

/* Returns advice about numbers such as 1,000 and 1 M, or "" for other texts. */
static const char *explain_number(const char *text)
{
  return strpbrk(text, ",_' ") && strpbrk(text, "0123456789")
             ? "; write it without spaces and separators, and decimals after a point"
             : "";
}

/* Returns advice about a text with an unknown unit, such as 1m or 1bn. A text such as 1GB has an
 * unknown unit, too, because this number counts no bytes. For other texts, returns the advice of
 * explain_number(). */
static const char *explain_count(const char *text)
{
  const size_t ndigits = strspn(text, "0123456789.");
  const bool has_unit =
      ndigits > 0 && isalpha((unsigned char)text[ndigits]) && !strchr("eE", text[ndigits]);
  return has_unit ? "; units are k, M, G and T, or Ki, Mi, Gi and Ti" : explain_number(text);
}

uint64_t parse_count(const struct argp_state *state, const char *option, const char *text,
                     uint64_t most)
{
  uint64_t value;
  if (!read_count(text, "", &value) || value > most)
    usage_error(state, "%s: expected a whole number from 1 to %" PRIu64 ", found '%s'%s", option,
                most, text, explain_count(text));
  return value;
}

uint64_t parse_size(const struct argp_state *state, const char *option, const char *text)
{
  uint64_t value;
  if (!read_count(text, "B", &value))
    usage_error(state, "%s: expected a number of bytes such as 1000000, 64MiB or 1GB, found '%s'%s",
                option, text, explain_count(text));
  return value;
}

/* ---- Other numbers ---- */

/* Reads the first nbytes of the text as a number. */
static bool read_number(const char *text, size_t nbytes, double *value)
{
  char *end = NULL;
  if (nbytes == 0 || strspn(text, "0123456789.eE-+") < nbytes)
    return false;
  *value = strtod(text, &end);
  return end == text + nbytes && isfinite(*value);
}

double parse_number(const struct argp_state *state, const char *option, const char *text)
{
  double value;
  if (!read_number(text, strlen(text), &value))
    usage_error(state, "%s: expected a number, found '%s'%s", option, text, explain_number(text));
  return value + 0.0; /* adding 0.0 turns -0 into 0 */
}

double parse_rate(const struct argp_state *state, const char *option, const char *text)
{
  double rate;
  size_t nbytes = strlen(text);
  const bool is_percent = nbytes > 0 && text[nbytes - 1] == '%';
  const bool is_number = read_number(text, nbytes - is_percent, &rate);
  if (is_number && is_percent)
    rate /= 100;
  const bool lacks_sign = is_number && !is_percent && rate >= 1 && rate < 100;
  if (!is_number || !(rate > 0 && rate < 1))
    usage_error(state, "%s: expected a number between 0 and 1, or 0%% and 100%%, found '%s'%s%s%s",
                option, text, lacks_sign ? "; did you mean '" : explain_number(text),
                lacks_sign ? text : "", lacks_sign ? "%'?" : "");
  return rate;
}
