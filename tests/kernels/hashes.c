/* Cases of hash functions: every layout, length and alignment of keys.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static void check_hash(const struct trial *trial, const char *layout, const lanebloom_keys *keys,
                       const void *expected, size_t place)
{
  const size_t nbytes = keys->n * trial->format->hash_nbytes;
  struct guarded hashes = guarded_make(nbytes, place);
  hash_keys(trial->ops->hash, keys, trial->format->hash_nbytes, hashes.bytes);
  test_same_bytes(layout, hashes.bytes, expected, nbytes);
  guarded_free(&hashes);
}

/* Hashes a field of records. No byte before the first field or after the last may be read. In the
 * first rounds the fields end and begin at unmapped pages. */
static void check_strided(const struct trial *trial, const uint8_t *bytes, size_t width, size_t n,
                          const void *expected, size_t round)
{
  static const size_t between[NROUNDS] = {1, 8, 61, 4};
  const size_t stride = width + between[round];
  struct guarded data = guarded_make(n ? (n - 1) * stride + width : 0, trial_place(trial, round));
  for (size_t i = 0; i < n; i++)
    memcpy(data.bytes + i * stride, bytes + i * width, width);
  guarded_freeze(&data);
  const lanebloom_keys keys = lanebloom_keys_strided(data.bytes, width, stride, n);
  check_hash(trial, "hashes of a field", &keys, expected, trial_place(trial, round));
  guarded_free(&data);
}

static void check_strings(const struct trial *trial, const lanebloom_slice *slices, size_t n,
                          const void *expected, size_t place)
{
  struct guarded views = trial_views(slices, n, place);
  const lanebloom_keys keys = lanebloom_keys_strings(views.bytes, n);
  check_hash(trial, "hashes of string views", &keys, expected, place);
  guarded_free(&views);
}

/* Hashes n keys of these lengths in every layout. `bytes` holds the keys one after another. The
 * reference hashes slices, so it shares no code with the other layouts. */
static void check_keys(const struct trial *trial, const uint8_t *bytes, const size_t *lengths,
                       size_t n)
{
  enum { NSKIPPED = 5 }; /* bytes before the first key, so that offsets do not start at 0 */
  const size_t hash_nbytes = trial->format->hash_nbytes;
  lanebloom_slice *slices = test_alloc(n * sizeof *slices);
  uint32_t *offsets32 = test_alloc((n + 1) * sizeof *offsets32);
  uint64_t *offsets64 = test_alloc((n + 1) * sizeof *offsets64);
  uint8_t *expected = test_alloc(n * hash_nbytes);

  size_t nbytes = 0;
  bool uniform = true;
  for (size_t i = 0; i < n; i++) {
    slices[i] = (lanebloom_slice){bytes + nbytes, lengths[i]};
    nbytes += lengths[i];
    uniform = uniform && lengths[i] == lengths[0];
  }
  lanebloom_keys keys = lanebloom_keys_slices(slices, n);
  trial->reference->hash(&keys, expected);

  for (size_t round = 0; round < NROUNDS; round++) {
    test_context("%s: %zu keys, the first of %zu bytes, round %zu", trial->name, n,
                 n ? lengths[0] : 0, round);
    const size_t skipped =
        round % 2 ? 0 : NSKIPPED; /* in odd rounds the first key begins where the buffer begins */
    struct guarded data = guarded_make(skipped + nbytes, trial_place(trial, round));
    if (nbytes > 0)
      memcpy(data.bytes + skipped, bytes, nbytes);
    guarded_freeze(&data);

    size_t at = skipped;
    for (size_t i = 0; i < n; at += lengths[i++]) {
      slices[i] = (lanebloom_slice){data.bytes + at, lengths[i]};
      offsets32[i] = (uint32_t)at;
      offsets64[i] = at;
    }
    offsets32[n] = (uint32_t)at;
    offsets64[n] = at;
    struct guarded index32 =
        guarded_copy(offsets32, (n + 1) * sizeof *offsets32, aligned_place(round));
    struct guarded index64 =
        guarded_copy(offsets64, (n + 1) * sizeof *offsets64, aligned_place(round));
    struct guarded index = guarded_copy(slices, n * sizeof *slices, aligned_place(round));
    guarded_freeze(&index32);
    guarded_freeze(&index64);
    guarded_freeze(&index);

    keys = lanebloom_keys_offsets32(data.bytes, (const void *)index32.bytes, n);
    check_hash(trial, "hashes of 32-bit offsets", &keys, expected, trial_place(trial, round));
    keys = lanebloom_keys_offsets64(data.bytes, (const void *)index64.bytes, n);
    check_hash(trial, "hashes of 64-bit offsets", &keys, expected, trial_place(trial, round));
    keys = lanebloom_keys_slices((const void *)index.bytes, n);
    check_hash(trial, "hashes of slices", &keys, expected, trial_place(trial, round));
    if (uniform) {
      keys = lanebloom_keys_fixed(data.bytes + skipped, n ? lengths[0] : 0, n);
      check_hash(trial, "hashes of a fixed width", &keys, expected, trial_place(trial, round));
    }
    if (uniform)
      check_strided(trial, bytes, n ? lengths[0] : 0, n, expected, round);
    check_strings(trial, slices, n, expected, trial_place(trial, round));
    if (n == 0) { /* without keys, no offset is read */
      keys = lanebloom_keys_offsets32(NULL, NULL, 0);
      check_hash(trial, "no 32-bit offsets", &keys, expected, trial_place(trial, round));
      keys = lanebloom_keys_offsets64(NULL, NULL, 0);
      check_hash(trial, "no 64-bit offsets", &keys, expected, trial_place(trial, round));
    }
    guarded_free(&index32);
    guarded_free(&index64);
    guarded_free(&index);
    guarded_free(&data);
  }
  free(expected);
  free(offsets64);
  free(offsets32);
  free(slices);
}

enum { MAX_LENGTH = 300, MAX_LONG_LENGTH = 5200 };

void hash_one_width(const struct trial *trial)
{
  static const size_t more[] = {63,  64,  65,  100, 128, 129,       143,
                                144, 200, 239, 240, 241, MAX_LENGTH};
  static size_t lengths[MAX_BATCH];
  uint8_t *bytes = test_alloc((size_t)MAX_BATCH * MAX_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)MAX_BATCH * MAX_LENGTH);
  const bool exhaustive = test_exhaustive();
  for (size_t w = 0; w <= 40 + COUNT(more); w++)
    for (size_t b = exhaustive ? 0 : w % 3; b < NBATCH_SIZES; b += exhaustive ? 1 : 3) {
      for (size_t i = 0; i < batch_sizes[b]; i++)
        lengths[i] = w <= 40 ? w : more[w - 41];
      check_keys(trial, bytes, lengths, batch_sizes[b]);
    }
  free(bytes);
}

void hash_mixed_lengths(const struct trial *trial)
{
  static size_t lengths[MAX_BATCH];
  uint8_t *bytes = test_alloc((size_t)MAX_BATCH * MAX_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)MAX_BATCH * MAX_LENGTH);
  for (size_t b = 0; b < NBATCH_SIZES; b++)
    for (int mix = 0; mix < 5; mix++) {
      const size_t n = batch_sizes[b], odd_one = n ? rng_below(trial->rng, n) : 0;
      for (size_t i = 0; i < n; i++)
        lengths[i] = mix == 0   ? i % (MAX_LENGTH + 1)
                     : mix == 1 ? MAX_LENGTH - i % (MAX_LENGTH + 1)
                     : mix == 2 ? rng_below(trial->rng, MAX_LENGTH + 1)
                     : mix == 3
                         ? rng_below(trial->rng, 13)
                         : MAX_LENGTH * (size_t)(i == odd_one); /* one long key among empty ones */
      check_keys(trial, bytes, lengths, n);
    }
  free(bytes);
}

/* The lengths are around those at which XXPH3 changes its algorithm, 128 and 240 bytes, and around
 * the ends of stripes of 64 bytes and of blocks of 1024 bytes. */
void hash_long_keys(const struct trial *trial)
{
  enum { N = 33, MIDDLE = N / 2 };
  static const size_t centres[] = {128,  240,  256,  320,  512,
                                   960,  1024, 1088, 2048, 2112,
                                   3072, 4096, 5120, 5184, MAX_LONG_LENGTH - MIDDLE};
  size_t lengths[N];
  uint8_t *bytes = test_alloc((size_t)N * MAX_LONG_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)N * MAX_LONG_LENGTH);
  for (size_t c = 0; c < COUNT(centres); c++) {
    for (size_t i = 0; i < N; i++)
      lengths[i] = centres[c] - MIDDLE + i;
    check_keys(trial, bytes, lengths, N);
    for (size_t width = centres[c] - 1; width <= centres[c] + 1; width++) {
      for (size_t i = 0; i < N; i++)
        lengths[i] = width;
      check_keys(trial, bytes, lengths, 9);
    }
  }
  const int ntimes = test_exhaustive() ? 20 : 4;
  for (int time = 0; time < ntimes; time++) {
    for (size_t i = 0; i < N; i++)
      lengths[i] = rng_below(trial->rng, MAX_LONG_LENGTH + 1);
    check_keys(trial, bytes, lengths, N);
  }
  free(bytes);
}

/* Every key of the batch, not only the last one, ends at an unmapped page. Then every key begins at
 * an unmapped page. */
static void check_page_edges(const struct trial *trial, size_t max_length)
{
  enum { N = 2 * (MAX_LENGTH + 1) };
  static lanebloom_slice slices[N];
  static uint8_t bytes[MAX_LONG_LENGTH], expected[MAX_HASH_NBYTES * N];
  rng_fill(trial->rng, bytes, max_length);
  for (size_t place = AT_END; place <= AT_BEGIN; place++) {
    test_context("%s: %s", trial->name,
                 place == AT_END ? "keys end at a page" : "keys begin at a page");
    struct guarded data = guarded_copy(bytes, max_length, place);
    guarded_freeze(&data);
    for (size_t i = 0; i < N; i++) {
      const size_t length = i <= MAX_LENGTH ? i : rng_below(trial->rng, max_length + 1);
      slices[i] = (lanebloom_slice){place == AT_END ? data.bytes + max_length - length : data.bytes,
                                    length};
    }
    slices[0] = (lanebloom_slice){NULL, 0};
    const lanebloom_keys keys = lanebloom_keys_slices(slices, N);
    trial->reference->hash(&keys, expected);
    check_hash(trial, "hashes", &keys, expected, place);
    check_strings(trial, slices, N, expected, place);

    /* Some loads of 16 bytes would end at the end of the page, and others one byte before or after
     * it. A load is safe up to that end. */
    for (size_t round = 0; round < 20; round++) {
      for (size_t i = 0; i < N; i++) {
        const size_t rest = rng_below(trial->rng, 34);
        const size_t length = rng_below(trial->rng, 6) * 16 + rng_below(trial->rng, 3);
        slices[i] = (lanebloom_slice){
            data.bytes + (place == AT_END ? max_length - length - rest : rest), length};
      }
      trial->reference->hash(&keys, expected);
      check_hash(trial, "hashes near the edge", &keys, expected, place);
      if (round % 4 == 0)
        check_strings(trial, slices, N, expected, place + round / 4);
    }
    guarded_free(&data);
  }
}

/* Allocates each key separately, so that a sanitizer watches both ends. */
static void check_keys_of_malloc(const struct trial *trial)
{
  enum { N = 100 };
  static lanebloom_slice slices[N];
  static uint8_t expected[MAX_HASH_NBYTES * N];
  test_context("%s: each key in memory of its own", trial->name);
  for (size_t i = 0; i < N; i++) {
    uint8_t *key = test_alloc(i);
    rng_fill(trial->rng, key, i);
    slices[i] = (lanebloom_slice){key, i};
  }
  const lanebloom_keys keys = lanebloom_keys_slices(slices, N);
  trial->reference->hash(&keys, expected);
  check_hash(trial, "hashes", &keys, expected, AT_END);
  for (size_t i = 0; i < N; i++)
    free((void *)slices[i].data);
}

void hash_at_page_edges(const struct trial *trial)
{
  check_keys_of_malloc(trial);
  check_page_edges(trial, MAX_LENGTH);
  check_page_edges(trial, MAX_LONG_LENGTH);
}

/* Keys have bytes around the sign bit, at one position or at all positions. All keys of a batch are
 * equal. */
void hash_every_kind_of_byte(const struct trial *trial)
{
  enum { WIDTH = 17, N = 33 };
  static const uint8_t kinds[] = {0x00, 0x01, 0x7f, 0x80, 0x81, 0xff};
  static uint8_t bytes[WIDTH * N];
  static size_t lengths[N];
  for (size_t width = 0; width <= WIDTH; width++)
    for (size_t kind = 0; kind < COUNT(kinds); kind++)
      for (size_t position = 0; position <= width; position++) {
        for (size_t i = 0; i < width * N; i++)
          bytes[i] = position == width || i % width == position ? kinds[kind] : 'a';
        for (size_t i = 0; i < N; i++)
          lengths[i] = width;
        check_keys(trial, bytes, lengths, N);
      }
}

/* Fields of records overlap or lie apart, beside unmapped pages, in batches larger than a block,
 * and in parts. Some records are so large that the third key begins beyond 2^32 bytes. */
void hash_strided(const struct trial *trial)
{
  enum { N = 1100, MAX_STRIDE = 40 };
  static uint8_t bytes[N * MAX_STRIDE], expected[MAX_HASH_NBYTES * N];
  static const size_t widths[] = {0, 1, 3, 4, 8, 12, 16, 17, 20, 32, 40};
  lanebloom_slice *slices = test_alloc(N * sizeof *slices);
  rng_fill(trial->rng, bytes, sizeof bytes);
  for (size_t w = 0; w < COUNT(widths); w++)
    for (size_t stride = 0; stride < MAX_STRIDE; stride += 1 + stride / 4) {
      const size_t n = (sizeof bytes - widths[w]) / MAX_STRIDE;
      const size_t place = stride % 3 < 2 ? stride % 3 : trial_place(trial, NROUNDS - 1);
      struct guarded data = guarded_copy(bytes, (n - 1) * stride + widths[w], place);
      guarded_freeze(&data);
      for (size_t i = 0; i < n; i++)
        slices[i] = (lanebloom_slice){data.bytes + i * stride, widths[w]};
      lanebloom_keys keys = lanebloom_keys_slices(slices, n);
      trial->reference->hash(&keys, expected);
      keys = lanebloom_keys_strided(data.bytes, widths[w], stride, n);
      test_context("%s: width %zu, stride %zu", trial->name, widths[w], stride);
      check_hash(trial, "hashes of fields", &keys, expected, AT_END);
      const size_t first = rng_below(trial->rng, n);
      keys = lanebloom_keys_part(&keys, first, n);
      check_hash(trial, "hashes of a part", &keys, expected + first * trial->format->hash_nbytes,
                 AT_END);
      guarded_free(&data);
    }
  free(slices);

  const size_t stride = ((size_t)1 << 31) + 13, width = 8;
  struct guarded data = guarded_sparse(2 * stride + width);
  lanebloom_slice far[3];
  for (size_t i = 0; i < 3; i++) {
    far[i] = (lanebloom_slice){data.bytes + i * stride, width};
    rng_fill(trial->rng, data.bytes + i * stride, width);
  }
  lanebloom_keys keys = lanebloom_keys_slices(far, 3);
  trial->reference->hash(&keys, expected);
  keys = lanebloom_keys_strided(data.bytes, width, stride, 3);
  test_context("%s: a stride of %zu", trial->name, stride);
  check_hash(trial, "hashes of far fields", &keys, expected, AT_END);
  guarded_free(&data);
}

/* Keys are around data + 2^31 and data + 2^32. There an offset becomes negative or loses bits if a
 * kernel's type for it is too narrow. */
void hash_far_offsets(const struct trial *trial)
{
  enum { N = 40, WIDTH = 7 };
  static const uint64_t centres[] = {(uint64_t)1 << 31, UINT32_MAX - N * WIDTH, (uint64_t)1 << 32};
  static uint8_t expected[MAX_HASH_NBYTES * N];
  struct guarded data = guarded_sparse(((size_t)1 << 32) + 4096);
  for (size_t c = 0; c < COUNT(centres); c++) {
    const uint64_t first = centres[c] - N * WIDTH / 2;
    uint64_t offsets64[N + 1];
    uint32_t offsets32[N + 1];
    lanebloom_slice slices[N];
    for (size_t i = 0; i <= N; i++) {
      offsets64[i] = first + i * WIDTH;
      offsets32[i] = (uint32_t)offsets64[i];
    }
    for (size_t i = 0; i < N; i++)
      slices[i] = (lanebloom_slice){data.bytes + offsets64[i], WIDTH};
    rng_fill(trial->rng, data.bytes + first, (size_t)N * WIDTH);

    test_context("%s: keys around %llu", trial->name, (unsigned long long)centres[c]);
    lanebloom_keys keys = lanebloom_keys_slices(slices, N);
    trial->reference->hash(&keys, expected);
    check_hash(trial, "hashes of slices", &keys, expected, AT_END);
    keys = lanebloom_keys_offsets64(data.bytes, offsets64, N);
    check_hash(trial, "hashes of 64-bit offsets", &keys, expected, AT_END);
    if (offsets64[N] <= UINT32_MAX) {
      keys = lanebloom_keys_offsets32(data.bytes, offsets32, N);
      check_hash(trial, "hashes of 32-bit offsets", &keys, expected, AT_END);
    }
  }
  guarded_free(&data);
}
