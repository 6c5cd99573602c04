/* Finds quotes, carriage returns and byte order marks, and orders the fields of a key.
 * SPDX-License-Identifier: MIT */
#include "fields.h"

#include <string.h>

static const char BOM[] = {'\xef', '\xbb', '\xbf'};

bool has_odd_quotes(const struct field_syntax *syntax, const char *data, size_t nbytes)
{
  unsigned char n = 0; /* counts modulo 256, because compilers vectorize a sum of bytes */
  if (has_quotes(syntax))
    for (size_t i = 0; i < nbytes; i++)
      n = (unsigned char)(n + (data[i] == '"'));
  return n % 2;
}

bool has_lone_return(const struct field_syntax *syntax, const char *data, size_t nbytes)
{
  if (syntax->n == 0 || (syntax->dialect != DIALECT_CSV && syntax->dialect != DIALECT_TSV))
    return false;
  bool in_quotes = false;
  const char *end = data + nbytes;
  for (const char *at; data < end && (at = memchr(data, '\r', (size_t)(end - data)));
       data = at + 1) {
    in_quotes ^= has_odd_quotes(syntax, data, (size_t)(at - data));
    if (!in_quotes && at + 1 < end && at[1] != '\n')
      return true;
  }
  return false;
}

size_t count_bom(const char *data, size_t nbytes)
{
  return nbytes >= sizeof BOM && memcmp(data, BOM, sizeof BOM) == 0 ? sizeof BOM : 0;
}

void order_fields(const struct field_syntax *syntax, struct field_order *order)
{
  for (size_t i = 0; i < syntax->n; i++) { /* an insertion sort, since there are few fields */
    size_t at = i;
    for (; at > 0 && order->fields[at - 1].number > syntax->fields[i].number; at--)
      order->fields[at] = order->fields[at - 1];
    order->fields[at].number = syntax->fields[i].number;
    order->fields[at].key_index = i;
  }
  order->fields[syntax->n].number = SIZE_MAX;
}
