/* Defines the members of a filter, and declares the functions on filters and builders that only the
 * library calls. A filter never changes once threads share it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FILTER_H
#define LANEBLOOM_FILTER_H

#include "common/memory.h"
#include "format.h"

/* These facts about a filter are not in an engine's bytes. */
struct filter_facts {
  uint64_t nkeys;      /* or LANEBLOOM_UNKNOWN */
  double bits_per_key; /* as recorded when the filter was built; NaN if unknown */
  lanebloom_key_form key_form;
};

struct lanebloom_filter {
  const struct format_table *format;
  struct filter_shape shape;
  const uint8_t *bytes; /* the engine's bytes: payload and frame */
  size_t nbytes;
  const uint8_t *payload; /* in `bytes`; for a constant answer it equals `bytes` */
  struct filter_facts facts;
  struct memory memory; /* owned; nothing is freed if its kind is MEMORY_BORROWED */
};

/* Checks that lanebloom.h defines the encoding and all flags. */
bool lanebloom_key_form_is_known(lanebloom_key_form form);

static inline bool same_key_form(lanebloom_key_form a, lanebloom_key_form b)
{
  return a.encoding == b.encoding && a.flags == b.flags;
}

/* Fills a filter that borrows the engine's bytes, so that the filter need not be freed. If the
 * requested format stands for several formats, the filter gets the one that the bytes have. The
 * facts of the filter are unknown, and its key form is plain. Errors: FORMAT, LIMIT, CORRUPT. */
lanebloom_status lanebloom_filter_read(const struct format_table *requested, const uint8_t *bytes,
                                       size_t nbytes, lanebloom_filter *filter,
                                       const struct problem *problem);

/* Creates a filter from the engine's bytes, which are in `memory` or are borrowed. On success the
 * filter owns `memory`; on an error the caller still owns it. Errors: MEMORY, and the errors of
 * lanebloom_filter_read(). */
lanebloom_status lanebloom_filter_adopt(const struct format_table *requested, const uint8_t *bytes,
                                        size_t nbytes, const struct filter_facts *facts,
                                        struct memory memory, lanebloom_filter **filter,
                                        const struct problem *problem);

/* Finds the facts that a caller of the library gives. options may be NULL. Errors: ARGUMENT. */
lanebloom_status lanebloom_filter_facts_of(const lanebloom_raw_options *options,
                                           struct filter_facts *facts,
                                           const struct problem *problem);

/* Creates a filter as lanebloom_filter_adopt() does, with facts that a caller gives. */
lanebloom_status lanebloom_filter_adopt_raw(const struct format_table *requested,
                                            const uint8_t *bytes, size_t nbytes,
                                            const struct filter_facts *facts, struct memory memory,
                                            lanebloom_filter **filter,
                                            const struct problem *problem);

/* Makes room for n more keys. After success, adding up to n keys, in any number of batches, can
 * fail only with KERNEL. Errors: MEMORY, KERNEL. */
lanebloom_status lanebloom_builder_reserve(lanebloom_builder *builder, size_t n);

#endif
