/* Extractors say which part of a key a filter holds: all of it, or a prefix.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_EXTRACTOR_H
#define LANEBLOOM_TABLES_EXTRACTOR_H

#include <lanebloom.h>

struct extractor {
  enum { EXTRACT_KEY, EXTRACT_FIXED, EXTRACT_CAPPED } kind;
  size_t nbytes; /* of a prefix. A shorter key has no prefix (FIXED), or is its own (CAPPED). */
};

/* Cuts the key to its prefix. false: it has none, so it may be in any filter. */
static inline bool extract(const struct extractor *extractor, lanebloom_slice *key)
{
  if (extractor->kind == EXTRACT_KEY)
    return true;
  const bool is_long = key->size >= extractor->nbytes;
  if (is_long)
    key->size = extractor->nbytes;
  return is_long || extractor->kind == EXTRACT_CAPPED;
}

#endif
