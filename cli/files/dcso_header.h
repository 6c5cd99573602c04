/* Finds the size of a filter of DCSO from its header.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DCSO_HEADER_H
#define LANEBLOOM_CLI_DCSO_HEADER_H

#include "../../src/common/bytes.h"

enum { DCSO_HEADER_NBYTES = 48, DCSO_NBITS_OFFSET = 32, DCSO_WORD_NBYTES = 8 };

/* Returns the size of the filter that has this header, without attached data. It is less than
 * 2^62. */
static inline uint64_t dcso_nbytes(const void *header)
{
  const uint64_t nbits = load_le64((const uint8_t *)header + DCSO_NBITS_OFFSET);
  return DCSO_HEADER_NBYTES + (nbits / 64 + (nbits % 64 > 0)) * DCSO_WORD_NBYTES;
}

#endif
