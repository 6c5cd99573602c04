/* Cases of Hudi's filters. They have no hash, so kernels take keys. The library never builds these
 * filters, so the model sets their bits.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { MAX_LENGTH = 300 };

/* Makes a record without set bits, and finds its shape. With no rows, makes a SIMPLE one. */
static struct guarded make(const struct trial *trial, uint32_t nrows, uint32_t nprobes,
                           uint32_t nbits, struct filter_shape *shape)
{
  struct guarded record = guarded_sparse(model_hudi_nbytes(nrows, nbits));
  model_hudi_write_headers(record.bytes, nrows, nprobes, nbits);
  const lanebloom_status status = trial->format->table->parse(trial->format->table, record.bytes,
                                                              record.nbytes, shape, &no_problem);
  cr_assert(status == LANEBLOOM_OK && shape->answer == ANSWER_BY_PROBES &&
                shape->nprobes == nprobes && shape->hudi.nrows == (nrows ? nrows : 1) &&
                shape->hudi.row_nbits == nbits,
            "parse");
  return record;
}

static uint8_t *row_of(const struct guarded *record, const struct filter_shape *shape, uint64_t row)
{
  return record->bytes + HUDI_HEADER_NBYTES + shape->hudi.first + row * shape->hudi.stride;
}

/* Sets no bits, about half of the bits of a row, or all. Then adds about half of the keys, each to
 * any row. */
static void set_bits(const struct trial *trial, const struct guarded *record,
                     const struct filter_shape *shape, const lanebloom_slice *keys, size_t n,
                     int fill)
{
  const uint32_t nbits = shape->hudi.row_nbits, nrows = shape->hudi.nrows;
  for (uint32_t row = 0; row < nrows; row++)
    if (fill == 1)
      rng_fill(trial->rng, row_of(record, shape, row), (nbits + (size_t)7) / 8);
    else if (fill == 2)
      memset(row_of(record, shape, row), 0xff, (nbits + (size_t)7) / 8);
  for (size_t i = 0; i < n; i++)
    if (rng_below(trial->rng, 2) && fill < 2)
      model_hudi_add(row_of(record, shape, rng_below(trial->rng, nrows)), nbits, shape->nprobes,
                     keys[i]);
}

static void probe(const struct operations *ops, const struct filter_shape *shape,
                  const uint8_t *payload, const lanebloom_keys *keys, uint8_t *bitmap)
{
  struct hash_source source;
  hash_source_of_keys(&source, keys, ops->hash, 0);
  ops->probe(shape, payload, &source, bitmap);
}

static void check(const struct trial *trial, const char *layout, const struct filter_shape *shape,
                  const uint8_t *payload, const lanebloom_keys *keys, const uint8_t *expected,
                  size_t place)
{
  const size_t nbytes = (keys->n + 7) / 8;
  struct guarded bitmap = guarded_make(nbytes, place);
  probe(trial->ops, shape, payload, keys, bitmap.bytes);
  test_same_bytes(layout, bitmap.bytes, expected, nbytes);
  guarded_free(&bitmap);
}

/* Probes a filter with n keys of these lengths, in every layout. */
static void check_keys(const struct trial *trial, const uint8_t *bytes, const size_t *lengths,
                       size_t n, const uint32_t dimensions[3], int fill)
{
  static lanebloom_slice slices[MAX_BATCH];
  static uint32_t offsets32[MAX_BATCH + 1];
  static uint64_t offsets64[MAX_BATCH + 1];
  uint8_t expected[(MAX_BATCH + 7) / 8];
  size_t nbytes = 0;
  bool uniform = n > 0;
  for (size_t i = 0; i < n; i++) {
    slices[i] = (lanebloom_slice){bytes + nbytes, lengths[i]};
    nbytes += lengths[i];
    uniform = uniform && lengths[i] == lengths[0];
  }
  struct filter_shape shape;
  struct guarded record = make(trial, dimensions[0], dimensions[1], dimensions[2], &shape);
  set_bits(trial, &record, &shape, slices, n, fill);
  const lanebloom_keys reference = lanebloom_keys_slices(slices, n);
  probe(trial->reference, &shape, record.bytes + HUDI_HEADER_NBYTES, &reference, expected);

  for (size_t round = 0; round < NROUNDS; round++) {
    test_context("%s: %zu keys, the first of %zu bytes, %u rows of %u bits, %u probes, round %zu",
                 trial->name, n, n ? lengths[0] : 0, dimensions[0], dimensions[2], dimensions[1],
                 round);
    const size_t place = trial_place(trial, round);
    struct guarded filter = guarded_copy(record.bytes, record.nbytes, place);
    struct guarded data = guarded_copy(bytes, nbytes, place);
    guarded_freeze(&filter);
    guarded_freeze(&data);
    const uint8_t *payload = filter.bytes + HUDI_HEADER_NBYTES;
    size_t at = 0;
    for (size_t i = 0; i < n; at += lengths[i++]) {
      slices[i] = (lanebloom_slice){data.bytes + at, lengths[i]};
      offsets32[i] = (uint32_t)at;
      offsets64[i] = at;
    }
    offsets32[n] = (uint32_t)at;
    offsets64[n] = at;
    lanebloom_keys keys = lanebloom_keys_slices(slices, n);
    check(trial, "slices", &shape, payload, &keys, expected, place);
    keys = lanebloom_keys_offsets32(data.bytes, offsets32, n);
    check(trial, "offsets of 32 bits", &shape, payload, &keys, expected, place);
    keys = lanebloom_keys_offsets64(data.bytes, offsets64, n);
    check(trial, "offsets of 64 bits", &shape, payload, &keys, expected, place);
    struct guarded views = trial_views(slices, n, place);
    keys = lanebloom_keys_strings(views.bytes, n);
    check(trial, "string views", &shape, payload, &keys, expected, place);
    guarded_free(&views);
    if (uniform) {
      keys = lanebloom_keys_fixed(data.bytes, lengths[0], n);
      check(trial, "a fixed width", &shape, payload, &keys, expected, place);
    }
    if (uniform && lengths[0] > 2) { /* keys that overlap are not read by kernels themselves */
      static const size_t stride = 2;
      uint8_t overlapping[(MAX_BATCH + 7) / 8];
      const size_t noverlapping =
          (nbytes - lengths[0]) / stride + 1 < n ? (nbytes - lengths[0]) / stride + 1 : n;
      for (size_t i = 0; i < noverlapping; i++)
        slices[i] = (lanebloom_slice){data.bytes + i * stride, lengths[0]};
      keys = lanebloom_keys_slices(slices, noverlapping);
      probe(trial->reference, &shape, payload, &keys, overlapping);
      keys = lanebloom_keys_strided(data.bytes, lengths[0], stride, noverlapping);
      check(trial, "overlapping keys", &shape, payload, &keys, overlapping, place);
    }
    guarded_free(&data);
    guarded_free(&filter);
  }
  guarded_free(&record);
}

/* Returns rows, probes and bits of a filter. The smallest filters and powers of two come first. */
static void draw(const struct trial *trial, size_t i, uint32_t dimensions[3])
{
  static const uint32_t nbits[] = {1, 2, 3, 7, 8, 9, 64, 1000, 4096, 65537};
  static const uint32_t nprobes[] = {1, 2, 7, 14, 30, 255};
  dimensions[0] = (uint32_t)(i % 4);
  dimensions[1] = nprobes[i % COUNT(nprobes)];
  dimensions[2] = i < COUNT(nbits) ? nbits[i] : 1 + (uint32_t)rng_below(trial->rng, 300000);
}

void hudi_answers(const struct trial *trial)
{
  static const size_t more[] = {63, 64, 65, 100, 124, 125, 127, 128, 129, 130, 200, MAX_LENGTH};
  static size_t lengths[MAX_BATCH];
  uint8_t *bytes = test_alloc((size_t)MAX_BATCH * MAX_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)MAX_BATCH * MAX_LENGTH);
  for (size_t w = 0; w <= 41 + COUNT(more) - 1; w++)
    for (size_t b = w % 4; b < NBATCH_SIZES; b += test_exhaustive() ? 1 : 4) {
      uint32_t dimensions[3];
      draw(trial, w + b, dimensions);
      for (size_t i = 0; i < batch_sizes[b]; i++)
        lengths[i] = w <= 40 ? w : more[w - 41];
      check_keys(trial, bytes, lengths, batch_sizes[b], dimensions, (int)((w + b) % 3));
    }
  free(bytes);
}

void hudi_mixed_lengths(const struct trial *trial)
{
  static size_t lengths[MAX_BATCH];
  uint8_t *bytes = test_alloc((size_t)MAX_BATCH * MAX_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)MAX_BATCH * MAX_LENGTH);
  for (size_t b = 0; b < NBATCH_SIZES; b++)
    for (size_t mix = 0; mix < 6; mix++) {
      const size_t n = batch_sizes[b], odd_one = n ? rng_below(trial->rng, n) : 0;
      uint32_t dimensions[3];
      draw(trial, 5 * b + mix, dimensions);
      for (size_t i = 0; i < n; i++)
        lengths[i] = mix == 0   ? i % (MAX_LENGTH + 1)
                     : mix == 1 ? MAX_LENGTH - i % (MAX_LENGTH + 1)
                     : mix == 2 ? rng_below(trial->rng, MAX_LENGTH + 1)
                     : mix == 3 ? rng_below(trial->rng, 13)
                     : mix == 4 ? 30 + rng_below(trial->rng, 20)
                                : MAX_LENGTH * (size_t)(i == odd_one);
      check_keys(trial, bytes, lengths, n, dimensions, mix % 2 ? 1 : 0);
    }
  free(bytes);
}

/* ---- Hashes ---- */

static uint32_t undo_shift(uint32_t value, unsigned nbits)
{
  uint32_t undone = value;
  for (unsigned i = 0; i < 32; i += nbits)
    undone = value ^ undone >> nbits;
  return undone;
}

/* Returns the key of 4 bytes whose hash with the seed 0 is this one, as a little-endian number. All
 * steps of the hash can be undone. */
static uint32_t key_of(uint32_t hash)
{
  static const uint32_t multiplier = 1540483477, inverse = 3852147133;
  uint32_t word = undo_shift(undo_shift(hash, 15) * inverse, 13) ^ 4 * multiplier;
  word = undo_shift(word * inverse, 24) * inverse;
  return word;
}

/* The first hash of a key is 0, or 2^31, which has no positive counterpart, or a power of two, or a
 * number beside one. */
void hudi_every_kind_of_hash(const struct trial *trial)
{
  enum { N = 4 * 32 };
  static const uint32_t sizes[] = {1, 2, 5, 4096, 99991, 1 << 20, (1 << 20) - 1};
  static uint8_t bytes[4 * N];
  static size_t lengths[N];
  for (size_t i = 0; i < N; i++) {
    const uint32_t one = UINT32_C(1) << i / 4,
                   hash = i % 4 == 0   ? one
                          : i % 4 == 1 ? ~one
                          : i % 4 == 2 ? one - 1
                                       : 0 - one,
                   key = key_of(hash);
    for (size_t j = 0; j < 4; j++)
      bytes[4 * i + j] = (uint8_t)(key >> 8 * j);
    lengths[i] = 4;
    cr_assert(model_hudi_hash(bytes + 4 * i, 4, 0) == hash, "%x", hash);
  }
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (uint32_t nprobes = 1; nprobes <= 3; nprobes++)
      check_keys(trial, bytes, lengths, N, (const uint32_t[]){0, nprobes, sizes[s]}, nprobes % 2);
}

/* Filters beyond caches, where kernels prefetch, and the most bits that a row can have. These are
 * sparse. */
void hudi_large(const struct trial *trial)
{
  enum { N = 5000, WIDTH = 20 };
  static const uint32_t dimensions[][3] = {
      {0, 30, 2587966}, {2, 30, 2587966}, {0, 7, 40 << 20}, {3, 7, 40 << 20}, {0, 10, INT32_MAX}};
  static lanebloom_slice slices[N];
  static uint8_t bytes[N * WIDTH], expected[(N + 7) / 8], bitmap[(N + 7) / 8];
  rng_fill(trial->rng, bytes, sizeof bytes);
  for (size_t i = 0; i < N; i++)
    slices[i] = (lanebloom_slice){bytes + i * WIDTH, WIDTH};
  const lanebloom_keys keys = lanebloom_keys_slices(slices, N);
  for (size_t d = 0; d < COUNT(dimensions); d++) {
    struct filter_shape shape;
    const uint32_t *wanted = dimensions[d];
    struct guarded record = make(trial, wanted[0], wanted[1], wanted[2], &shape);
    set_bits(trial, &record, &shape, slices, N, wanted[2] < 64 << 20);
    test_context("%s: %u rows of %u bits", trial->name, wanted[0], wanted[2]);
    probe(trial->reference, &shape, record.bytes + HUDI_HEADER_NBYTES, &keys, expected);
    probe(trial->ops, &shape, record.bytes + HUDI_HEADER_NBYTES, &keys, bitmap);
    test_same_bytes("bitmap", bitmap, expected, sizeof bitmap);
    guarded_free(&record);
  }
}

/* Makes the public calls, which split keys into parts. Calls with hashes are refused or, if they
 * cannot fail, let every key pass. */
void hudi_calls(const struct trial *trial)
{
  enum { WIDTH = 9 };
  static const size_t sizes[] = {0, 1, 4, 5, 1023, 1024, 1025, 5 * 1024 + 7, 32769};
  struct filter_shape shape;
  struct guarded record = make(trial, 2, 3, 12345, &shape);
  set_bits(trial, &record, &shape, NULL, 0, 1);
  for (size_t s = 0; s < COUNT(sizes); s++) {
    const size_t n = sizes[s], bitmap_nbytes = (n + 7) / 8;
    uint8_t *text = test_alloc(n * WIDTH), *bitmap = test_alloc(bitmap_nbytes),
            *expected = test_alloc(bitmap_nbytes), *mask = test_alloc(n);
    uint32_t *indices = test_alloc(n * sizeof *indices);
    lanebloom_slice *slices = test_alloc(n * sizeof *slices);
    rng_fill(trial->rng, text, n * WIDTH);
    for (size_t i = 0; i < n; i++)
      slices[i] = (lanebloom_slice){text + i * WIDTH, WIDTH};
    const lanebloom_keys keys = lanebloom_keys_fixed(text, WIDTH, n),
                         reference = lanebloom_keys_slices(slices, n);
    test_context("%s: public calls on %zu keys", trial->name, n);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_HUDI, record.bytes, record.nbytes, NULL, &filter,
                                         NULL, 0) == LANEBLOOM_OK);
    probe(trial->reference, &shape, record.bytes + HUDI_HEADER_NBYTES, &reference, expected);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
      count += expected[i / 8] >> i % 8 & 1;
    cr_assert(lanebloom_filter_screen(filter, &keys, bitmap) == count, "screen");
    test_same_bytes("screen", bitmap, expected, bitmap_nbytes);
    cr_assert(lanebloom_filter_screen(filter, &keys, NULL) == count, "screen, the count");
    cr_assert(lanebloom_filter_select(filter, &keys, indices) == count, "select");
    for (size_t i = 0; i < count; i++)
      cr_assert(expected[indices[i] / 8] >> indices[i] % 8 & 1, "index %u", indices[i]);
    cr_assert(lanebloom_filter_mask(filter, &keys, mask) == count, "mask");
    for (size_t i = 0; i < n; i++)
      cr_assert(mask[i] == (expected[i / 8] >> i % 8 & 1), "mask %zu", i);
    for (size_t i = 0; i < n && i < 200; i++)
      cr_assert(lanebloom_filter_may_contain(filter, slices[i].data, WIDTH) == mask[i] &&
                    lanebloom_filter_may_contain_raw(LANEBLOOM_HUDI, record.bytes, record.nbytes,
                                                     slices[i].data, WIDTH) == mask[i],
                "key %zu", i);
    cr_assert(!lanebloom_filter_may_contain(filter, NULL, 0), "the empty key");

    lanebloom_hash_batch *batch = (void *)1;
    uint64_t hash, positions[3];
    cr_assert(lanebloom_hash(LANEBLOOM_HUDI, &keys, &hash) == LANEBLOOM_ERR_FORMAT);
    cr_assert(lanebloom_hash_batch_create(LANEBLOOM_HUDI, text, n, 0, &batch) ==
                  LANEBLOOM_ERR_FORMAT &&
              !batch);
    cr_assert(lanebloom_filter_screen_hashes(filter, text, n, NULL) == n, "hashes");
    cr_assert(lanebloom_filter_positions(filter, text, positions) == 0);
    lanebloom_filter_free(filter);
    free(slices);
    free(indices);
    free(mask);
    free(expected);
    free(bitmap);
    free(text);
  }
  guarded_free(&record);
}
