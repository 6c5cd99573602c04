/* Defines the format of binary fuse filters, which Pebble writes from its version of 2026 on.
 *
 *   fingerprints | seed    | number of segments | log2 of slots per segment | bits per fingerprint
 *                | 8 bytes | 4 bytes            | 1 byte                    | 1 byte
 *
 * lanebloom opens binary fuse filters but does not build them: a builder would have to hold all
 * hashes at once, and would have to peel a graph of three edges per key for each seed that it
 * tries.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "../common/bytes.h"
#include "../format.h"

enum { TRAILER_NBYTES = 14, HASH_NBITS = 64, MAX_LOG_NSLOTS = 31 };

/* The bytes behind the last fingerprint with which engines can load 8 or 4 bytes at a time
 * (Pebble f82e3ff). */
static const struct packing {
  uint8_t fingerprint_nbits, rest_nbytes;
} packings[] = {{4, 0}, {8, 0}, {10, 3}, {12, 1}, {16, 0}};

static const struct packing *packing_of(uint8_t fingerprint_nbits)
{
  for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
    if (packings[i].fingerprint_nbits == fingerprint_nbits)
      return &packings[i];
  return NULL;
}

/* Returns the size of a payload. Fingerprints of 12 bits are stored in pairs. */
static uint64_t payload_nbytes(const struct packing *packing, uint64_t nslots)
{
  const uint64_t nwhole = packing->fingerprint_nbits == 12 ? nslots + nslots % 2 : nslots;
  return (nwhole * packing->fingerprint_nbits + 7) / 8 + packing->rest_nbytes;
}

/* Checks the trailer. Every slot that a hash can have is then in the payload, whatever the hash:
 * the first is below nstarts, and the two others are in the two segments after its segment. */
static lanebloom_status pebble_binaryfuse_parse(const struct format_table *format,
                                                const uint8_t *bytes, size_t size,
                                                struct filter_shape *shape,
                                                const struct problem *problem)
{
  (void)format;
  *shape = (struct filter_shape){.answer = ANSWER_NEVER};
  if (size <= TRAILER_NBYTES)
    return LANEBLOOM_OK;
  shape->answer = ANSWER_BY_PROBES;
  shape->nbytes = size - TRAILER_NBYTES;
  const uint8_t *trailer = bytes + shape->nbytes;
  const uint32_t nsegments = load_le32(trailer + 8);
  const uint8_t log_nslots = trailer[12], fingerprint_nbits = trailer[13];
  const struct packing *packing = packing_of(fingerprint_nbits);
  if (!packing)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a binary fuse filter with 4, 8, 10, 12 or 16 bits per "
                       "fingerprint, found %u in the last byte",
                       fingerprint_nbits);
  const uint64_t nslots =
      log_nslots <= MAX_LOG_NSLOTS ? ((uint64_t)nsegments + 2) << log_nslots : UINT64_MAX;
  if (nsegments == 0 || nslots > UINT32_MAX)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a binary fuse filter with 1 segment or more, and less than 2^32 "
                       "slots, found %" PRIu32 " segments of 2^%u slots",
                       nsegments, log_nslots);
  const uint64_t expected_nbytes = payload_nbytes(packing, nslots);
  if (shape->nbytes != expected_nbytes)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected %" PRIu64 " bytes for the %" PRIu64
                       " fingerprints of a binary fuse filter, found %" PRIu64,
                       expected_nbytes + TRAILER_NBYTES, nslots, (uint64_t)size);
  shape->nprobes = fingerprint_nbits;
  shape->nbits = nslots * fingerprint_nbits;
  shape->fuse = (struct fuse_shape){.seed = load_le64(trailer),
                                    .nstarts = nsegments << log_nslots,
                                    .segment_nslots = (uint32_t)1 << log_nslots};
  return LANEBLOOM_OK;
}

/* Each bit of a fingerprint halves the rate, regardless of which bits of the payload are set. */
static double pebble_binaryfuse_filled_rate(const struct format_table *format,
                                            const struct filter_shape *shape, uint64_t nbits_set,
                                            uint64_t nkeys)
{
  (void)format;
  (void)nbits_set;
  const double rate = ldexp(1, -(int)shape->nprobes);
  if (nkeys == LANEBLOOM_UNKNOWN)
    return rate;
  return lanebloom_rate_either(rate, lanebloom_rate_collision((double)nkeys, HASH_NBITS));
}

const struct format_table lanebloom_format_pebble_binaryfuse = {
    .id = LANEBLOOM_PEBBLE_BINARYFUSE,
    .name = "pebble-binaryfuse",
    .text = "Pebble of 2026 and above with a binary fuse filter policy (read-only)",
    .trailer_nbytes = TRAILER_NBYTES,
    .max_nbytes = UINT64_MAX,
    .parse = pebble_binaryfuse_parse,
    .hash = HASH_XXH3,
    .layout = LAYOUT_PEBBLE_BINARYFUSE,
    .filled_rate = pebble_binaryfuse_filled_rate,
};
