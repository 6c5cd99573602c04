/* Defines the format of Apache Hudi's Bloom filters. The bytes of a filter are a record that Hudi
 * writes, as Base64, into the footers of Parquet files. All numbers are big-endian.
 *
 *   SIMPLE      -1, probes: 4 bytes each | hash: 1 byte | bits per row: 4 bytes | bits
 *   DYNAMIC_V0  -1, probes, hash, bits per row: as above | keys per row, keys in the newest row,
 *               rows: 4 bytes each | rows, each of which is a SIMPLE record
 *
 * lanebloom opens Hudi's filters but does not build them.
 * Sources: Hudi 1.0.2, hudi-common: InternalFilter.java, InternalBloomFilter.java,
 * InternalDynamicBloomFilter.java, SimpleBloomFilter.java, HoodieDynamicBoundedBloomFilter.java.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "../common/base64.h"
#include "../format.h"
#include "../layouts/hudi.h"

enum {
  NPROBES_OFFSET = 4,
  HASH_OFFSET = 8,
  NBITS_OFFSET = 9,
  HEADER_NBYTES = 13, /* of a SIMPLE record, and the first bytes of a DYNAMIC_V0 record */
  NROWS_OFFSET = 21,
  DYNAMIC_NBYTES = 25, /* before the first row */
  HASH_JENKINS = 0,
  HASH_MURMUR = 1,
};

/* ---- Opening ---- */

static lanebloom_status check_header(const uint8_t *bytes, size_t size,
                                     const struct problem *problem)
{
  if (size < HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a filter of Hudi, which has more than %d bytes, found %zu",
                       HEADER_NBYTES, size);
  const uint32_t version = load_be32(bytes), nprobes = load_be32(bytes + NPROBES_OFFSET),
                 nbits = load_be32(bytes + NBITS_OFFSET);
  const uint8_t hash = bytes[HASH_OFFSET];
  if (version != UINT32_MAX)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected version -1 of Hudi's filters, found %" PRId32, (int32_t)version);
  if (hash == HASH_JENKINS)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected the hash 1 (Murmur), which Hudi writes, found 0 (Jenkins)");
  if (hash != HASH_MURMUR)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "expected the hash 1 (Murmur), found %u",
                       hash);
  if (nprobes == 0 || nprobes > INT_MAX || nbits == 0 || nbits > INT_MAX)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected at least 1 probe and 1 bit, found %" PRId32 " and %" PRId32,
                       (int32_t)nprobes, (int32_t)nbits);
  if (nprobes > HUDI_MAX_NPROBES)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected at most %d probes per key, found %" PRIu32, HUDI_MAX_NPROBES,
                       nprobes);
  return LANEBLOOM_OK;
}

/* Checks whether a record is a DYNAMIC_V0 one. Nothing in the record says so, but its first row
 * repeats the header. A SIMPLE record with the same bytes in its bits does not occur. */
static bool is_dynamic(const uint8_t *bytes, size_t size)
{
  return size >= DYNAMIC_NBYTES + HEADER_NBYTES &&
         memcmp(bytes, bytes + DYNAMIC_NBYTES, HEADER_NBYTES) == 0;
}

/* Parses a record. Hudi's reader ignores bytes after the record; here none may follow, so that a
 * damaged number of bits or rows is found. */
static lanebloom_status hudi_parse(const struct format_table *format, const uint8_t *bytes,
                                   size_t size, struct filter_shape *shape,
                                   const struct problem *problem)
{
  (void)format;
  const lanebloom_status status = check_header(bytes, size, problem);
  if (status)
    return status;
  const uint32_t row_nbits = load_be32(bytes + NBITS_OFFSET);
  const uint64_t stride = HEADER_NBYTES + (row_nbits + UINT64_C(7)) / 8;
  const bool dynamic = is_dynamic(bytes, size);
  const uint64_t nrows = dynamic ? load_be32(bytes + NROWS_OFFSET) : 1;
  const uint64_t first_row = dynamic ? DYNAMIC_NBYTES : 0;
  if (nrows == 0 || nrows > INT_MAX || size != first_row + nrows * stride)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected %" PRIu64 " bytes for %" PRIu64 " rows of %" PRIu32
                       " bits, found %zu",
                       first_row + nrows * stride, nrows, row_nbits, size);
  for (uint64_t row = 0; row < nrows; row++)
    if (memcmp(bytes, bytes + first_row + row * stride, HEADER_NBYTES) != 0)
      return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                         "expected rows that begin alike, found another header in row %" PRIu64,
                         row);
  *shape = (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = load_be32(bytes + NPROBES_OFFSET),
      .nbytes = size - HEADER_NBYTES,
      .nbits = nrows * row_nbits,
      .hudi = {.nrows = (uint32_t)nrows,
               .row_nbits = row_nbits,
               .first = first_row,
               .stride = stride,
               .reciprocal = reciprocal_31(row_nbits)},
  };
  return LANEBLOOM_OK;
}

/* A record begins with the bytes ff ff ff ff, which are "/////" and one of w x y z in Base64. As a
 * record, these characters would be a version that does not exist. */
static lanebloom_status hudi_decode(const uint8_t *bytes, size_t size, struct memory *decoded,
                                    size_t *nbytes, const struct problem *problem)
{
  static const char begin[] = {'/', '/', '/', '/', '/'};
  *decoded = (struct memory){.kind = MEMORY_BORROWED};
  if (size < sizeof begin || memcmp(bytes, begin, sizeof begin) != 0)
    return LANEBLOOM_OK;
  if (size > 0 && bytes[size - 1] == '\n') /* the text is a line of a file */
    size -= bytes[size - 2] == '\r' ? 2 : 1;
  const size_t most = size / 4 * 3;
  *decoded = lanebloom_memory_create(most);
  if (!decoded->bytes)
    return problem_memory(problem, most);
  const uint8_t *end = base64_decode(bytes, size, decoded->bytes);
  if (end) {
    *nbytes = (size_t)(end - decoded->bytes);
    return LANEBLOOM_OK;
  }
  lanebloom_memory_free(decoded);
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "expected a filter of Hudi in Base64, found other characters in it");
}

/* ---- Rates ---- */

static uint64_t count_row(const uint8_t *bits, uint32_t nbits)
{
  uint64_t n = 0;
  for (uint32_t i = 0; i < nbits / 8; i++)
    n += (unsigned)__builtin_popcount(bits[i]);
  if (nbits % 8 > 0)
    n += (unsigned)__builtin_popcount(bits[nbits / 8] & ((1u << nbits % 8) - 1));
  return n;
}

/* Rows have different numbers of keys, so the rate of each row is computed separately. */
static uint64_t hudi_count(const struct filter_shape *shape, const uint8_t *payload, double *rate)
{
  const struct hudi_shape *hudi = &shape->hudi;
  uint64_t n = 0;
  *rate = 0;
  for (uint32_t row = 0; row < hudi->nrows; row++) {
    const uint64_t nset = count_row(payload + hudi->first + row * hudi->stride, hudi->row_nbits);
    const double fill = (double)nset / hudi->row_nbits;
    *rate = lanebloom_rate_either(*rate, lanebloom_rate_filled(fill, shape->nprobes));
    n += nset;
  }
  return n;
}

const struct format_table lanebloom_format_hudi = {
    .id = LANEBLOOM_HUDI,
    .name = "hudi",
    .text = "Apache Hudi, in the footers of Parquet files (read-only)",
    .header_nbytes = HEADER_NBYTES,
    .max_nbytes = UINT64_MAX,
    .parse = hudi_parse,
    .decode = hudi_decode,
    .hash = HASH_NONE,
    .layout = LAYOUT_HUDI,
    .count = hudi_count,
};
