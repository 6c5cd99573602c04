/* Random records whose fields are cut out, trimmed, lower-cased and decoded, checked against the
 * definition in fuzz/fields.c.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const fields[] = {
    "",
    "x",
    " ",
    "\t",
    "\r",
    "7",
    "+2147483647",
    "-2147483649",
    " 0a ",
    "AbCd",
    "\tEF01 ",
    "e\xc3\x9f",
    "0123456789abcdefABCDEF0123456789012345678901234567890123456789abcdefABCDEF",
};
static const char *const quoted[] = {
    "\"\"", "\"a,b;c\"", "\" \"\"A\"\" \"", "\"\nF0 \"", "\"\r\n\"", "\"12\"", "\"\"\"\"",
};
static const char *const stray[] = {"a\"b", "\"a\"b", "\"a"};

#define PICK(rng, list) ((list)[rng_below(rng, sizeof(list) / sizeof *(list))])

static char *put_record(struct rng *rng, bool quotes, char separator, char *to)
{
  for (size_t n = 1 + rng_below(rng, 5); n > 0; n--) {
    const uint64_t kind = rng_below(rng, 1000);
    to = stpcpy(to, kind == 0              ? PICK(rng, stray)
                    : quotes && kind < 400 ? PICK(rng, quoted)
                                           : PICK(rng, fields));
    if (n > 1)
      *to++ = separator;
  }
  return stpcpy(to, rng_below(rng, 4) ? "\n" : "\r\n");
}

/* Writes an input for LLVMFuzzerTestOneInput(). Returns its number of bytes. */
static size_t make_input(struct rng *rng, uint8_t *bytes)
{
  enum { CSV = 1, SEMICOLONS = 2, NRANDOM = 3, END = 0xff };
  rng_fill(rng, bytes, NRANDOM); /* flags, the number of repetitions, and the key */
  const bool quotes = bytes[0] & CSV;
  const char separator = bytes[0] & SEMICOLONS ? ';' : ',';
  bytes[1] = (uint8_t)(rng_below(rng, 8) ? 0 : bytes[1]);
  bytes[2] %= 64; /* so that each read returns 1, 2 or 3 bytes, or as many as requested */
  uint8_t *next = bytes + NRANDOM;
  for (size_t n = 1 + rng_below(rng, 3); n > 0; n--)
    *next++ = (uint8_t)rng_below(rng, 4);
  *next++ = END;
  char *to = (char *)next;
  to = stpcpy(to, rng_below(rng, 16) ? "" : "\xef\xbb\xbf");
  for (size_t n = 1 + rng_below(rng, rng_below(rng, 8) ? 20 : 400); n > 0; n--)
    to = put_record(rng, quotes, separator, to);
  return (size_t)(to - (char *)bytes);
}

Test(fields, random_records)
{
  static uint8_t bytes[1 << 18];
  for (uint64_t i = 0; i < (test_exhaustive() ? 10000 : 1000); i++) {
    struct rng rng = rng_start(i);
    test_context("run %llu", (unsigned long long)i);
    LLVMFuzzerTestOneInput(bytes, make_input(&rng, bytes));
  }
}
