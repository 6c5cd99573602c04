/* Iterates over the library's list of formats, for benchmarks that measure each format.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_BENCH_FORMATS_H
#define LANEBLOOM_BENCH_FORMATS_H

#include <format.h>

/* Returns the next format of which filters can be built. If `format` is 0, returns the first one.
 * After the last one, returns 0. */
static inline lanebloom_format bench_next_format(lanebloom_format format)
{
  bool passed = format == 0;
  for (size_t i = 0; lanebloom_format_listed(i); i++) {
    const struct format_table *table = lanebloom_format_listed(i);
    if (passed && table->plan)
      return table->id;
    passed |= table->id == format;
  }
  return 0;
}

/* Return the first format with the same hash, or with the same layout, as this format. Hashing
 * alone, or probing alone, is measured only for these first formats, because the others would give
 * the same times. */
static inline lanebloom_format bench_first_with_hash_of(lanebloom_format format)
{
  const enum hash hash = lanebloom_format_table(format)->hash;
  lanebloom_format first = bench_next_format(0);
  while (lanebloom_format_table(first)->hash != hash)
    first = bench_next_format(first);
  return first;
}

static inline lanebloom_format bench_first_with_layout_of(lanebloom_format format)
{
  const enum layout layout = lanebloom_format_table(format)->layout;
  lanebloom_format first = bench_next_format(0);
  while (lanebloom_format_table(first)->layout != layout)
    first = bench_next_format(first);
  return first;
}

/* Returns the number of probes that the format can use and that is nearest to the wanted number. */
static inline unsigned bench_nprobes(lanebloom_format format, unsigned wanted)
{
  const struct format_table *table = lanebloom_format_table(format);
  return wanted < table->min_nprobes   ? table->min_nprobes
         : wanted > table->max_nprobes ? table->max_nprobes
                                       : wanted;
}

#endif
