/* The members of a filter, and the functions on filters and builders that only the library calls. A
 * filter never changes once threads share it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FILTER_H
#define LANEBLOOM_FILTER_H

#include "common/memory.h"
#include "format.h"

struct lanebloom_filter {
  const struct format_table *format;
  struct filter_shape shape;
  const uint8_t *bytes; /* the engine's bytes: payload and frame */
  size_t nbytes;
  const uint8_t *payload; /* in `bytes`; for a constant answer it equals `bytes` */
  uint64_t nkeys;         /* or LANEBLOOM_UNKNOWN */
  double bits_per_key;    /* as recorded when it was built; NaN: unknown */
  lanebloom_key_form key_form;
  struct memory memory; /* owned; nothing is freed if its kind is MEMORY_BORROWED */
};

/* Checks that lanebloom.h defines the encoding and all flags. */
bool lanebloom_key_form_is_known(lanebloom_key_form form);

static inline bool same_key_form(lanebloom_key_form a, lanebloom_key_form b)
{
  return a.encoding == b.encoding && a.flags == b.flags;
}

/* Fills a filter that borrows the engine's bytes, so that it does not have to be closed. If the
 * requested format recognises others, the filter gets the format that was recognised. Errors:
 * FORMAT, LIMIT. */
lanebloom_status lanebloom_filter_read(const struct format_table *requested, const uint8_t *bytes,
                                       size_t nbytes, lanebloom_filter *filter);

/* Creates a filter of the plain key form from the engine's bytes, which are in `memory` or are
 * borrowed. On success the filter owns `memory`; on an error the caller still owns it. Errors:
 * FORMAT, LIMIT, MEMORY. */
lanebloom_status lanebloom_filter_adopt(const struct format_table *requested, const uint8_t *bytes,
                                        size_t nbytes, uint64_t nkeys, double bits_per_key,
                                        struct memory memory, lanebloom_filter **filter);

/* Makes room for n more keys. After success, adding up to n keys, in any number of batches, can
 * fail only with KERNEL. Errors: MEMORY, KERNEL. */
lanebloom_status lanebloom_builder_reserve(lanebloom_builder *builder, size_t n);

/* ---- Merging filters and builders ---- */

static inline bool same_shape(const struct filter_shape *a, const struct filter_shape *b)
{
  return a->answer == b->answer && a->nprobes == b->nprobes && a->nbytes == b->nbytes &&
         a->nbits == b->nbits;
}

/* Adds two numbers of keys. If the sum overflows, it is unknown. */
static inline uint64_t add_counts(uint64_t a, uint64_t b)
{
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? LANEBLOOM_UNKNOWN : sum;
}

/* Sets the bits that are set in `from`. */
static inline void or_bytes(uint8_t *into, const uint8_t *from, uint64_t nbytes)
{
  for (uint64_t i = 0; i < nbytes; i++)
    into[i] |= from[i];
}

#endif
