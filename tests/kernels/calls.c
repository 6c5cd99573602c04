/* Cases with whole batches: keys that are hashed while they are probed or added, and the public
 * calls, which split a batch into parts and blocks.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "keys.h"

/* ---- Keys that are hashed while they are probed or added ---- */

/* Probes and adds keys, half of which are in the filter, in blocks of the size that a kernel
 * requests. The reference gets the same keys as slices. */
static void check_source(const struct trial *trial, const struct filter_shape *shape,
                         const lanebloom_keys *keys, const lanebloom_slice *slices, size_t round)
{
  const size_t hash_nbytes = trial->format->hash_nbytes, n = keys->n;
  uint8_t *hashes = test_alloc(n * hash_nbytes), *payload = test_alloc(shape->nbytes);
  uint8_t *expected = test_alloc((n + 7) / 8);
  const lanebloom_keys as_slices = lanebloom_keys_slices(slices, n);
  trial->reference->hash(&as_slices, hashes);
  rng_fill(trial->rng, payload, shape->nbytes);
  trial_add(trial, trial->reference, shape, payload, hashes, n / 2);
  trial_probe(trial, trial->reference, shape, payload, hashes, n, expected);

  struct guarded filter = guarded_copy(payload, shape->nbytes, trial_place(trial, round));
  struct guarded bitmap = guarded_make((n + 7) / 8, trial_place(trial, round));
  struct hash_source source;
  hash_source_of_keys(&source, keys, trial->ops->hash, hash_nbytes);
  trial->ops->probe(shape, filter.bytes, &source, bitmap.bytes);
  test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
  test_same_bytes("payload that was probed", filter.bytes, payload, shape->nbytes);

  hash_source_of_keys(&source, keys, trial->ops->hash, hash_nbytes);
  trial->ops->add(shape, filter.bytes, &source);
  trial_add(trial, trial->reference, shape, payload, hashes, n);
  test_same_bytes("payload", filter.bytes, payload, shape->nbytes);
  guarded_free(&bitmap);
  guarded_free(&filter);
  free(expected);
  free(payload);
  free(hashes);
}

void sources_of_keys(const struct trial *trial)
{
  enum { B = BLOCK_NKEYS, MAX_N = 5 * B + 9, WIDE = 40, MIXED = WIDE + 1 };
  static const size_t counts[] = {0,  1,   7,    8,     12, 15,    31,         33,        64,
                                  65, 127, 1000, B - 1, B,  B + 1, 2 * B + 63, 3 * B - 5, MAX_N};
  static const struct {
    unsigned layout;
    size_t width, stride;
  } variants[] = {
      {KEYS_FIXED, 0, 0},       {KEYS_FIXED, 1, 1},         {KEYS_FIXED, 3, 3},
      {KEYS_FIXED, 8, 8},       {KEYS_FIXED, 16, 16},       {KEYS_FIXED, 21, 21},
      {KEYS_FIXED, 40, 40},     {KEYS_OFFSETS32, MIXED, 0}, {KEYS_FIXED, 8, 23},
      {KEYS_FIXED, 12, 13},     {KEYS_STRIDED, 21, 5},      {KEYS_STRIDED, 16, 0},
      {KEYS_STRINGS, MIXED, 0},
  };
  static lanebloom_slice slices[MAX_N];
  static uint32_t offsets[MAX_N + 1];
  uint8_t *bytes = test_alloc((size_t)MAX_N * WIDE);
  rng_fill(trial->rng, bytes, (size_t)MAX_N * WIDE);
  for (size_t i = 0; i < MAX_N; i++)
    offsets[i + 1] = offsets[i] + (uint32_t)rng_below(trial->rng, i % 2000 < 1000 ? 14 : WIDE + 1);
  const bool exhaustive = test_exhaustive();
  for (size_t c = 0; c < COUNT(counts); c++)
    for (size_t v = exhaustive ? 0 : c % 3; v < COUNT(variants); v += exhaustive ? 1 : 3) {
      const bool beyond = (c + v) % 4 == 0; /* larger than caches, so every kernel prefetches */
      const struct filter_shape shape =
          format_shape(trial->format, beyond ? 4500019 : 20011, 1 + (uint32_t)(c + v) % 8);
      const size_t n = counts[c], width = variants[v].width, stride = variants[v].stride;
      const size_t nbytes = width == MIXED ? offsets[n] : n > 0 ? (n - 1) * stride + width : 0;
      test_context("%s: filter of %llu bytes, %u probes, %zu keys, layout %u, width %zu",
                   trial->name, (unsigned long long)shape.nbytes, shape.nprobes, n,
                   variants[v].layout, width);
      struct guarded data = guarded_copy(bytes, nbytes, trial_place(trial, c % NROUNDS));
      guarded_freeze(&data);
      for (size_t i = 0; i < n; i++)
        slices[i] = width == MIXED
                        ? (lanebloom_slice){data.bytes + offsets[i], offsets[i + 1] - offsets[i]}
                        : (lanebloom_slice){data.bytes + i * stride, width};
      const size_t nviews = variants[v].layout == KEYS_STRINGS ? n : 0;
      struct guarded views = trial_views(slices, nviews, trial_place(trial, c % NROUNDS));
      const lanebloom_keys keys = variants[v].layout == KEYS_OFFSETS32
                                      ? lanebloom_keys_offsets32(data.bytes, offsets, n)
                                  : variants[v].layout == KEYS_STRINGS
                                      ? lanebloom_keys_strings(views.bytes, n)
                                      : lanebloom_keys_strided(data.bytes, width, stride, n);
      check_source(trial, &shape, &keys, slices, c % 2);
      guarded_free(&views);
      guarded_free(&data);
    }
  free(bytes);
}

/* ---- The public calls ---- */

enum { WIDTH = 8, NLAYOUTS = 6 };

/* The expected results for n keys: the reference's operations process the whole batch at once. */
struct answers {
  uint8_t *hashes, *bitmap;
  uint32_t *indices;
  size_t n, count;
};

static struct answers expect(const struct trial *trial, const struct filter_shape *shape,
                             const uint8_t *payload, const lanebloom_slice *slices, size_t n)
{
  struct answers expected = {
      .hashes = test_alloc(n * trial->format->hash_nbytes),
      .bitmap = test_alloc((n + 7) / 8),
      .indices = test_alloc(n * sizeof *expected.indices),
      .n = n,
  };
  const lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  trial->reference->hash(&keys, expected.hashes);
  trial_probe(trial, trial->reference, shape, payload, expected.hashes, n, expected.bitmap);
  for (size_t i = 0; i < n; i++)
    if (expected.bitmap[i / 8] >> i % 8 & 1)
      expected.indices[expected.count++] = (uint32_t)i;
  return expected;
}

static void check_answers(const struct trial *trial, size_t round, const lanebloom_filter *filter,
                          const lanebloom_keys *keys, const struct answers *expected)
{
  const size_t hashes_nbytes = expected->n * trial->format->hash_nbytes,
               bitmap_nbytes = (expected->n + 7) / 8;
  struct guarded hashes = guarded_make(hashes_nbytes, trial_place(trial, round));
  cr_assert(lanebloom_hash(trial->format->id, keys, hashes.bytes) == LANEBLOOM_OK, "hash");
  test_same_bytes("hashes", hashes.bytes, expected->hashes, hashes_nbytes);
  guarded_freeze(&hashes);

  struct guarded bitmap = guarded_make(bitmap_nbytes, trial_place(trial, round));
  if (lanebloom_filter_screen_hashes(filter, hashes.bytes, expected->n, bitmap.bytes) !=
      expected->count)
    test_fatal("screen_hashes: not %zu", expected->count);
  test_same_bytes("bitmap of screen_hashes", bitmap.bytes, expected->bitmap, bitmap_nbytes);
  guarded_free(&bitmap);
  guarded_free(&hashes);

  bitmap = guarded_make(bitmap_nbytes, trial_place(trial, round));
  if (lanebloom_filter_screen(filter, keys, bitmap.bytes) != expected->count)
    test_fatal("screen: not %zu", expected->count);
  test_same_bytes("bitmap of screen", bitmap.bytes, expected->bitmap, bitmap_nbytes);
  guarded_free(&bitmap);
  if (lanebloom_filter_screen(filter, keys, NULL) != expected->count)
    test_fatal("screen that only counts: not %zu", expected->count);

  struct guarded indices = guarded_make(expected->n * sizeof(uint32_t), aligned_place(round));
  if (lanebloom_filter_select(filter, keys, (void *)indices.bytes) != expected->count)
    test_fatal("select: not %zu", expected->count);
  test_same_bytes("indices", indices.bytes, expected->indices, expected->count * sizeof(uint32_t));
  guarded_free(&indices);
}

/* Builds a filter of n keys in this layout, and screens n keys, half of which are in it. */
static void check_calls(const struct trial *trial, size_t n, size_t layout)
{
  const size_t round = layout % NROUNDS, stride = WIDTH + 5;
  test_context("%s: public calls on %zu keys, layout %zu", trial->name, n, layout);
  uint8_t *bytes = test_alloc(2 * n * WIDTH);
  rng_fill(trial->rng, bytes, 2 * n * WIDTH);
  for (size_t i = 0; i < n; i++)
    if (rng_below(trial->rng, 2))
      memcpy(bytes + (n + i) * WIDTH, bytes + i * WIDTH, WIDTH);

  uint32_t *offsets32 = test_alloc((2 * n + 1) * sizeof *offsets32);
  uint64_t *offsets64 = test_alloc((2 * n + 1) * sizeof *offsets64);
  lanebloom_slice *slices = test_alloc((2 * n + 1) * sizeof *slices);
  uint8_t *records = test_alloc((2 * n + 1) * stride);
  for (size_t i = 0; i <= 2 * n; i++) {
    offsets32[i] = (uint32_t)(i * WIDTH);
    offsets64[i] = i * WIDTH;
    slices[i] = (lanebloom_slice){bytes + i * WIDTH, WIDTH};
  }
  for (size_t i = 0; i < 2 * n; i++)
    memcpy(records + i * stride, bytes + i * WIDTH, WIDTH);
  struct guarded views =
      trial_views(slices, layout == NLAYOUTS - 1 ? 2 * n : 0, trial_place(trial, round));
  const lanebloom_keys layouts[NLAYOUTS] = {
      lanebloom_keys_fixed(bytes, WIDTH, 2 * n),
      lanebloom_keys_offsets32(bytes, offsets32, 2 * n),
      lanebloom_keys_offsets64(bytes, offsets64, 2 * n),
      lanebloom_keys_slices(slices, 2 * n),
      lanebloom_keys_strided(records, WIDTH, stride, 2 * n),
      lanebloom_keys_strings(views.bytes, 2 * n),
  };
  const lanebloom_keys added = lanebloom_keys_part(&layouts[layout], 0, n);
  const lanebloom_keys asked = lanebloom_keys_part(&layouts[layout], n, n);

  struct filter_shape shape;
  cr_assert(trial->format->table->plan(trial->format->table, 10000, n, &shape) == LANEBLOOM_OK,
            "plan");
  uint8_t *payload = test_alloc(shape.nbytes), *hashes = test_alloc(n * trial->format->hash_nbytes);
  const lanebloom_keys added_slices = lanebloom_keys_slices(slices, n);
  trial->reference->hash(&added_slices, hashes);
  trial_add(trial, trial->reference, &shape, payload, hashes, n);
  struct answers expected = expect(trial, &shape, payload, slices + n, n);

  lanebloom_filter *filter;
  size_t size;
  cr_assert(lanebloom_filter_build(trial->format->id, 10, &added, &filter) == LANEBLOOM_OK,
            "build");
  const uint8_t *built = lanebloom_filter_bytes(filter, &size);
  cr_assert(size == format_nbytes(trial->format->table, &shape), "a filter of %zu bytes", size);
  test_same_bytes("payload of build", built + trial->format->table->header_nbytes, payload,
                  shape.nbytes);
  check_answers(trial, round, filter, &asked, &expected);

  lanebloom_filter_free(filter);
  free(expected.indices);
  free(expected.bitmap);
  free(expected.hashes);
  free(hashes);
  free(payload);
  guarded_free(&views);
  free(records);
  free(slices);
  free(offsets64);
  free(offsets32);
  free(bytes);
}

void calls_around_a_block(const struct trial *trial)
{
  enum { B = BLOCK_NKEYS };
  static const size_t sizes[] = {0,     1,         4,     5,         7,        8,
                                 9,     65,        B / 2, B / 2 + 1, B - 1,    B,
                                 B + 1, 2 * B - 1, 2 * B, 2 * B + 1, 5 * B + 7};
  const size_t nlayouts =
      test_exhaustive() ? NLAYOUTS : 3; /* three for each size, the others for the next size */
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t l = 0; l < nlayouts; l++)
      check_calls(trial, sizes[s], (s + l) % NLAYOUTS);
}

/* The batches are around the size of a part, which is the most keys that a call gives a kernel at
 * once. */
void calls_around_a_part(const struct trial *trial)
{
  enum { PART_NKEYS = 1 << 15 }; /* as in screen.c */
  static const size_t sizes[] = {PART_NKEYS - 1, PART_NKEYS, PART_NKEYS + 1, 2 * PART_NKEYS + 9};
  for (size_t layout = 0; layout < NLAYOUTS; layout++)
    for (size_t s = 0; s < COUNT(sizes); s++)
      if (test_exhaustive() || s == layout % COUNT(sizes))
        check_calls(trial, sizes[s], layout);
}
