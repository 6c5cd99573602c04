/* Extractors. A filter is queried either for whole keys or for prefixes of keys. An extractor says
 * which of the two, and cuts a key accordingly.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_EXTRACTOR_H
#define LANEBLOOM_TABLES_EXTRACTOR_H

#include <lanebloom.h>

struct extractor {
  enum { EXTRACT_KEY, EXTRACT_FIXED, EXTRACT_CAPPED } kind;
  size_t nbytes; /* the size of a prefix; a shorter key has no prefix (FIXED), or is its own prefix
                  * (CAPPED) */
};

/* Cuts the key to its prefix. Returns false if the key has no prefix. No filter can then exclude
 * the key, so the caller must treat the key as present. */
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
