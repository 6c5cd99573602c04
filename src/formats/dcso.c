/* Defines the formats of DCSO's Bloom filters, the files of the Go program `bloom`. All numbers are
 * little-endian.
 *
 *   flags, planned keys, rate (a double), probes, bits, keys: 8 bytes each | words of 8 bytes |
 *   attached data
 *
 * Only the lowest byte of the flags counts, and is 1. Any bytes may follow the words; they belong
 * to the user of the filter. The last number of the header counts the keys that set a bit when they
 * were added.
 *
 * Source: DCSO/bloom 0.2.4, bloom.go and io.go.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "../common/bytes.h"
#include "../format.h"
#include "../layouts/dcso.h"

static const double LN_2 = 0.6931471805599453;

enum {
  FLAGS_OFFSET = 0,
  PLANNED_OFFSET = 8,
  RATE_OFFSET = 16,
  NPROBES_OFFSET = 24,
  NBITS_OFFSET = 32,
  COUNT_OFFSET = 40,
  HEADER_NBYTES = 48,
  VERSION = 1, /* the lowest byte of the flags */
  WORD_NBYTES = 8,
  MIN_MILLIBITS = 500,
  MAX_MILLIBITS = 360000, /* 250 probes */
};

static struct filter_shape shape_of(uint64_t nbits, uint32_t nprobes)
{
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = (nbits / (8 * WORD_NBYTES) + (nbits % (8 * WORD_NBYTES) > 0)) * WORD_NBYTES,
      .nbits = nbits,
      .dcso = {.flags = VERSION},
  };
}

/* Returns one of the shapes that have this size: the number of bits is usually no whole number of
 * bytes. */
static struct filter_shape dcso_shape(const struct format_table *format, uint64_t nbytes,
                                      uint32_t line_nbytes, uint32_t nprobes)
{
  enum { NUNUSED = 13 };
  (void)format;
  (void)line_nbytes;
  return shape_of(8 * nbytes - NUNUSED, nprobes);
}

/* ---- The header ---- */

static uint64_t bits_of_double(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of_bits(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Parses a header as Go's reader does, which ignores all bytes of the flags but the lowest. Filters
 * that Go's reader accepts but cannot query are refused: those without bits but with probes. The
 * size is checked last, so that the first bytes of a file are enough to refuse its header. */
static lanebloom_status parse(const struct format_table *format, const uint8_t *bytes, size_t size,
                              struct filter_shape *shape, const struct problem *problem)
{
  (void)format;
  if (size < HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a DCSO filter, which has at least %d bytes, found %zu",
                       HEADER_NBYTES, size);
  if (bytes[FLAGS_OFFSET] != VERSION)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a DCSO filter, which begins with the byte %02x, found %02x",
                       VERSION, bytes[FLAGS_OFFSET]);
  const uint64_t nprobes = load_le64(bytes + NPROBES_OFFSET),
                 nbits = load_le64(bytes + NBITS_OFFSET);
  const uint64_t nwords = nbits / (8 * WORD_NBYTES) + (nbits % (8 * WORD_NBYTES) > 0);
  if (nprobes > 0 && nbits == 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected bits for %" PRIu64 " probes per key, found none", nprobes);
  if (nprobes > DCSO_MAX_NPROBES)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "expected at most %d probes per key, found %" PRIu64, DCSO_MAX_NPROBES,
                       nprobes);
  if (nwords > (size - HEADER_NBYTES) / WORD_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected at least %" PRIu64
                       " words of 8 bytes after the header, as it says, found %zu bytes",
                       nwords, size - HEADER_NBYTES);
  if (nprobes == 0) {
    *shape = (struct filter_shape){.answer = ANSWER_ALWAYS};
    return LANEBLOOM_OK;
  }
  *shape = shape_of(nbits, (uint32_t)nprobes);
  shape->dcso.flags = load_le64(bytes + FLAGS_OFFSET);
  shape->planned.nkeys = load_le64(bytes + PLANNED_OFFSET);
  shape->planned.rate = double_of_bits(load_le64(bytes + RATE_OFFSET));
  return LANEBLOOM_OK;
}

/* Writes the header around the count of keys, which is already there. */
static void write_frame(const struct format_table *format, const struct filter_shape *shape,
                        uint8_t *bytes)
{
  (void)format;
  store_le64(bytes + FLAGS_OFFSET, shape->dcso.flags);
  store_le64(bytes + PLANNED_OFFSET, shape->planned.nkeys);
  store_le64(bytes + RATE_OFFSET, bits_of_double(shape->planned.rate));
  store_le64(bytes + NPROBES_OFFSET, shape->nprobes);
  store_le64(bytes + NBITS_OFFSET, shape->nbits);
}

/* ---- Sizes ---- */

/* Chooses the numbers of bits and probes as Go's Initialize does, by the same operations in the
 * same order. Two filters of Go's are of no use, and so these differ: a filter without keys is
 * planned for one key, because Go's would have 2^63 probes; and there is at least one bit, because
 * every key would pass a filter without bits. */
static lanebloom_status plan_for_rate(const struct format_table *format, double rate,
                                      uint64_t nkeys, struct filter_shape *shape)
{
  (void)format;
  const uint64_t planned = nkeys > 0 ? nkeys : 1;
  const double nbits = fmax(fabs(ceil((double)planned * log(rate) / (LN_2 * LN_2))), 1);
  if (!(nbits < 0x1p62))
    return LANEBLOOM_ERR_LIMIT;
  const double nprobes = ceil(LN_2 * nbits / (double)planned);
  if (nprobes > DCSO_MAX_NPROBES)
    return LANEBLOOM_ERR_LIMIT;
  *shape = shape_of((uint64_t)nbits, (uint32_t)nprobes);
  shape->planned.nkeys = planned;
  shape->planned.rate = rate;
  return LANEBLOOM_OK;
}

/* The header records a rate, and readers such as fleur compute the size from it. So the rate for
 * which Go's writer takes these bits per key decides. */
static lanebloom_status plan(const struct format_table *format, uint64_t millibits, uint64_t nkeys,
                             struct filter_shape *shape)
{
  return plan_for_rate(format, exp(-(double)millibits / 1000 * (LN_2 * LN_2)), nkeys, shape);
}

/* ---- Probes ---- */

static void dcso_positions(const struct filter_shape *shape, const void *hash, uint64_t *positions)
{
  uint64_t step = dcso_reduced(hash64_at(hash, 0));
  for (uint32_t i = 0; i < shape->nprobes; i++) {
    step = dcso_next(step);
    positions[i] = step % shape->nbits;
  }
}

/* The members that both formats share. */
#define DCSO                                                                                       \
  .layout = LAYOUT_DCSO, .hash_nbits = 64, .header_nbytes = HEADER_NBYTES,                         \
  .max_nbytes = UINT64_MAX, .has_attachment = true, .count_offset = COUNT_OFFSET,                  \
  .min_nprobes = 1, .max_nprobes = DCSO_MAX_NPROBES, .min_millibits = MIN_MILLIBITS,               \
  .max_millibits = MAX_MILLIBITS, .step_millibits = 1, .rounds_bits = true,                        \
  .round_bits = lanebloom_round_bits, .plan = plan, .plan_for_rate = plan_for_rate,                \
  .bits_for_rate = lanebloom_bits_of_plan, .line_nbytes = WORD_NBYTES, .shape = dcso_shape,        \
  .parse = parse, .write_frame = write_frame, .positions = dcso_positions,                         \
  .planned_rate = lanebloom_spread_planned_rate, .filled_rate = lanebloom_spread_filled_rate

const struct format_table lanebloom_format_dcso = {
    .id = LANEBLOOM_DCSO,
    .name = "dcso",
    .text = "DCSO's bloom, flor, poppy's version 1, CIRCL's hashlookup",
    .hash = HASH_FNV1,
    DCSO,
};

const struct format_table lanebloom_format_dcso_signed = {
    .id = LANEBLOOM_DCSO_SIGNED,
    .name = "dcso-signed",
    .text = "dcso, with a key's bytes hashed as signed: fleur on x86",
    .hash = HASH_FNV1_SIGNED,
    DCSO,
};
