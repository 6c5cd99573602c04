/* Hashes the rows of Arrow arrays.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "keys.h"

lanebloom_status lanebloom_hash_arrow(lanebloom_format format, const struct ArrowSchema *schema,
                                      const struct ArrowArray *arrow, void *hashes, char *text,
                                      size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  struct array array;
  struct block block;
  lanebloom_status status = lanebloom_arrow_open(schema, arrow, &array, &problem);
  if (status)
    return status;
  const lanebloom_keys none = lanebloom_keys_fixed(NULL, 0, 0);
  status = lanebloom_hash(format, &none, hashes); /* finds errors of `format` even without rows */
  for (size_t first = 0, n; first < array.rows.n && !status; first += n) {
    n = block_nrows(array.rows.n - first);
    uint8_t *to = (uint8_t *)hashes + first * hash_nbytes;
    const lanebloom_keys keys = lanebloom_arrow_block_keys(&array, first, n, &block);
    status = lanebloom_hash(format, &keys, to);
    for (size_t i = 0; !status && may_have_nulls(&array) && i < n; i++)
      if (value_row(&array, first + i) == NO_ROW)
        memset(to + i * hash_nbytes, 0, hash_nbytes);
  }
  return status ? problem_status(&problem, status) : LANEBLOOM_OK;
}
