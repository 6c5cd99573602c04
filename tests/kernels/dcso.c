/* Cases of DCSO's layout: numbers of bits, the chain of steps, and the count of new keys.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/bytes.h"

enum { HEADER_NBYTES = 48, N = 300 };

static const uint32_t probes[] = {1, 2, 7, 8, 9, 14, 31, 33, 255};

/* Finds the shape of a filter with this number of bits. Only the header of the filter exists. */
static struct filter_shape shape_of(const struct trial *trial, uint64_t nbits, uint32_t nprobes)
{
  const uint64_t nbytes = (nbits + 63) / 64 * 8;
  struct guarded filter = guarded_sparse((size_t)(HEADER_NBYTES + nbytes));
  struct filter_shape shape;
  filter.bytes[0] = 1;
  store_le64(filter.bytes + 24, nprobes);
  store_le64(filter.bytes + 32, nbits);
  cr_assert(trial->format->table->parse(trial->format->table, filter.bytes,
                                        (size_t)(HEADER_NBYTES + nbytes), &shape,
                                        &no_problem) == LANEBLOOM_OK &&
                shape.nbits == nbits && shape.nprobes == nprobes && shape.nbytes == nbytes,
            "parse");
  guarded_free(&filter);
  return shape;
}

/* Adds hashes one by one, and counts those that set a new bit. */
static uint64_t add_by_definition(const struct filter_shape *shape, uint8_t *payload,
                                  const uint64_t *hashes, size_t n)
{
  uint64_t nnew = 0;
  for (size_t i = 0; i < n; i++) {
    bool is_new = false;
    for (unsigned p = 0; p < shape->nprobes; p++) {
      const uint64_t at = model_dcso_position(hashes[i], p, shape->nbits);
      is_new = is_new || !(payload[at / 8] & 1 << at % 8);
      payload[at / 8] = (uint8_t)(payload[at / 8] | 1 << at % 8);
    }
    nnew += is_new;
  }
  return nnew;
}

/* Adds the first half of the hashes and probes all. The payloads must be empty. */
static void check_hashes(const struct trial *trial, const struct filter_shape *shape,
                         struct guarded *found, struct guarded *expected, const uint64_t *hashes,
                         size_t n)
{
  uint8_t bitmap[(N + 7) / 8], wanted[(N + 7) / 8];
  struct hash_source source;
  trial_note(trial, shape, n, 0);
  const uint64_t nnew = add_by_definition(shape, expected->bytes, hashes, n / 2);
  hash_source_of_hashes(&source, hashes, sizeof *hashes, n / 2);
  trial->ops->add(shape, found->bytes, &source);
  test_same_sparse("payload", found, expected);
  if (source.nnew != nnew)
    test_fatal("%llu of %llu bits: %llu hashes set a new bit, expected %llu",
               (unsigned long long)shape->nbits, (unsigned long long)shape->nbytes * 8,
               (unsigned long long)source.nnew, (unsigned long long)nnew);
  trial_probe(trial, &trial->format->model->ops, shape, expected->bytes, hashes, n, wanted);
  trial_probe(trial, trial->ops, shape, found->bytes, hashes, n, bitmap);
  test_same_bytes("bitmap", bitmap, wanted, (n + 7) / 8);
}

static void check_shape(const struct trial *trial, const struct filter_shape *shape,
                        const uint64_t *hashes, size_t n)
{
  struct guarded found = guarded_sparse((size_t)shape->nbytes),
                 expected = guarded_sparse((size_t)shape->nbytes);
  check_hashes(trial, shape, &found, &expected, hashes, n);
  guarded_free(&expected);
  guarded_free(&found);
}

/* The remainder is computed by a reciprocal, whose error depends on the number of bits. Besides
 * random hashes, some are next to multiples of the number of bits, after the product with the
 * multiplier. */
void dcso_any_number_of_bits(const struct trial *trial)
{
  static const uint64_t sizes[] = {1,         2,          3,          5,          7,
                                   8,         9,          63,         64,         65,
                                   100,       127,        9585,       65535,      65536,
                                   65537,     1000003,    1048576,    1048577,    100000007,
                                   134217729, 2147483647, 4294967295, 4294967296, 4294967297};
  static uint64_t hashes[N];
  uint64_t inverse = 1; /* of the multiplier, by Newton's method */
  for (int i = 0; i < 6; i++)
    inverse *= 2 + 1469 * inverse;
  cr_assert(inverse * (0 - UINT64_C(1469)) == 1);
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t p = 0; p < COUNT(probes); p++) {
      if (!test_exhaustive() && sizes[s] > 1 << 20 && p % 4 != 2)
        continue;
      const struct filter_shape shape = shape_of(trial, sizes[s], probes[p]);
      const size_t n = sizes[s] < 200 ? 20 : N - p;
      rng_fill(trial->rng, hashes, sizeof hashes);
      for (size_t i = 0; i < n; i += 3) {
        const uint64_t multiple = rng_next(trial->rng) / sizes[s] * sizes[s];
        hashes[i] = (multiple + (i / 3 % 3) - 1) * inverse;
      }
      check_shape(trial, &shape, hashes, n);
    }
}

/* Makes hashes of which a given step is the prime or more, for each step of a filter and for the
 * hash itself, which is step 0. */
void dcso_steps_reach_the_prime(const struct trial *trial)
{
  static uint64_t hashes[N];
  uint64_t inverse = 1;
  for (int i = 0; i < 6; i++)
    inverse *= 2 + 1469 * inverse;
  const uint32_t nprobes = 20;
  for (size_t round = 0; round < 2; round++) {
    const struct filter_shape shape = shape_of(trial, round ? 40000003 : 4099, nprobes);
    uint64_t factor = 1; /* a power of the inverse */
    for (uint32_t step = 0; step <= nprobes; step++, factor *= inverse)
      for (uint64_t above = 0; above < 59; above += test_exhaustive() ? 1 : 29) {
        rng_fill(trial->rng, hashes, sizeof hashes);
        const uint64_t value = UINT64_MAX - 58 + above;
        hashes[rng_below(trial->rng, N)] = value * factor;
        hashes[rng_below(trial->rng, N / 2)] = value * factor;
        check_shape(trial, &shape, hashes, N);
      }
  }
}

/* Positions do not fit 32 bits, and neither do the offsets of their bytes. */
void dcso_beyond_2_to_32_bytes(const struct trial *trial)
{
  static const uint64_t sizes[] = {((uint64_t)1 << 35) - 1, ((uint64_t)1 << 35),
                                   ((uint64_t)1 << 35) + 1, ((uint64_t)1 << 37) + 12345};
  static uint64_t hashes[N];
  for (size_t s = 0; s < COUNT(sizes); s++) {
    const struct filter_shape shape = shape_of(trial, sizes[s], 7);
    rng_fill(trial->rng, hashes, sizeof hashes);
    check_shape(trial, &shape, hashes, N);
  }
}
