/* Every kernel against the scalar one, and the scalar one against the model, output for output: the
 * table {kernel x case}. A kernel takes part by being in the library's list, a format by its row in
 * `formats`.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "batch.h"
#include "format.h"
#include "keys.h"
#include "model.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct format {
  lanebloom_format id;
  size_t hash_nbytes;
  uint32_t line_nbytes; /* 0: the format has no lines */
  uint32_t max_nprobes; /* that a reader does */
  uint64_t max_nbits;   /* that probes can address */
  uint64_t max_nbytes;  /* of a payload that opens; 0: no such limit */
  bool may_have_rest;   /* may a payload end within a line? */
  const struct model *model;
};

/* Where writers on other CPUs have other lines, a row for each size that a reader takes; the first
 * is what is built. */
static const struct format formats[] = {
    {LANEBLOOM_LEVELDB, 4, 0, 30, (uint64_t)1 << 32, 0, false, &model_leveldb},
    {LANEBLOOM_LEVELDB_SIGNED, 4, 0, 30, (uint64_t)1 << 32, 0, false, &model_leveldb_signed},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 64, 127, UINT64_MAX, UINT32_MAX - 5, false,
     &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 1, 127, UINT64_MAX, UINT32_MAX - 5, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 2, 127, UINT64_MAX, UINT32_MAX - 5, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 4, 127, UINT64_MAX, UINT32_MAX - 5, false, &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 32, 127, UINT64_MAX, UINT32_MAX - 5, false,
     &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 128, 127, UINT64_MAX, UINT32_MAX - 5, false,
     &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LEGACY, 4, 256, 127, UINT64_MAX, UINT32_MAX - 5, false,
     &model_rocksdb_legacy},
    {LANEBLOOM_ROCKSDB_LOCAL, 8, 64, 30, UINT64_MAX, UINT32_MAX - 5, true, &model_rocksdb_local},
};

static bool is_built(const struct format *format)
{
  return format == formats || format[-1].id != format->id;
}

/* One cell of the table, for one format. */
struct trial {
  const char *name;
  const struct format *format;
  const struct operations *ops, *reference;
  struct rng *rng;
};

/* Around every vector width. */
static const size_t batch_sizes[] = {0,  1,  3,  4,  5,  7,  8,  9,   15,  16,
                                     17, 31, 32, 33, 63, 64, 65, 129, 1000};
enum { MAX_BATCH = 1000 };

/* Each check runs in several placements of its buffers: all end at unmapped pages, all begin there,
 * and at random. */
enum { NROUNDS = 4 };

static size_t place_in(const struct trial *trial, size_t round)
{
  return round <= AT_BEGIN ? round : rng_below(trial->rng, NPLACES);
}

/* Of indices, which have an alignment to keep. */
static size_t aligned_place_in(size_t round)
{
  return round % 2 ? AT_BEGIN : AT_END;
}

/* ---- Hashing ---- */

static void check_hash(const struct trial *trial, const char *layout, const lanebloom_keys *keys,
                       const void *expected, size_t place)
{
  const size_t nbytes = keys->n * trial->format->hash_nbytes;
  struct guarded hashes = guarded_make(nbytes, place);
  trial->ops->hash(keys, hashes.bytes);
  test_same_bytes(layout, hashes.bytes, expected, nbytes);
  guarded_free(&hashes);
}

/* Hashes n keys of these lengths in every layout. `bytes` holds them one after another. The
 * reference gets slices, so that it shares no layout with those that are tried. */
static void check_keys(const struct trial *trial, const uint8_t *bytes, const size_t *lengths,
                       size_t n)
{
  enum { NSKIPPED = 5 }; /* bytes before the first key: offsets need not start at 0 */
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
        round % 2 ? 0 : NSKIPPED; /* in odd rounds the first key begins at the unmapped page */
    struct guarded data = guarded_make(skipped + nbytes, place_in(trial, round));
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
        guarded_copy(offsets32, (n + 1) * sizeof *offsets32, aligned_place_in(round));
    struct guarded index64 =
        guarded_copy(offsets64, (n + 1) * sizeof *offsets64, aligned_place_in(round));
    struct guarded index = guarded_copy(slices, n * sizeof *slices, aligned_place_in(round));
    guarded_freeze(&index32);
    guarded_freeze(&index64);
    guarded_freeze(&index);

    keys = lanebloom_keys_offsets32(data.bytes, (const void *)index32.bytes, n);
    check_hash(trial, "hashes of 32-bit offsets", &keys, expected, place_in(trial, round));
    keys = lanebloom_keys_offsets64(data.bytes, (const void *)index64.bytes, n);
    check_hash(trial, "hashes of 64-bit offsets", &keys, expected, place_in(trial, round));
    keys = lanebloom_keys_slices((const void *)index.bytes, n);
    check_hash(trial, "hashes of slices", &keys, expected, place_in(trial, round));
    if (uniform) {
      keys = lanebloom_keys_fixed(data.bytes + skipped, n ? lengths[0] : 0, n);
      check_hash(trial, "hashes of a fixed width", &keys, expected, place_in(trial, round));
    }
    if (n == 0) { /* of no keys not even the first offset is read */
      keys = lanebloom_keys_offsets32(NULL, NULL, 0);
      check_hash(trial, "no 32-bit offsets", &keys, expected, place_in(trial, round));
      keys = lanebloom_keys_offsets64(NULL, NULL, 0);
      check_hash(trial, "no 64-bit offsets", &keys, expected, place_in(trial, round));
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

static void hash_one_width(const struct trial *trial)
{
  static const size_t more[] = {63, 64, 65, 100, 128, 129, 240, 241, MAX_LENGTH};
  static size_t lengths[MAX_BATCH];
  uint8_t *bytes = test_alloc((size_t)MAX_BATCH * MAX_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)MAX_BATCH * MAX_LENGTH);
  for (size_t w = 0; w <= 40 + COUNT(more); w++)
    for (size_t b = 0; b < COUNT(batch_sizes); b++) {
      for (size_t i = 0; i < batch_sizes[b]; i++)
        lengths[i] = w <= 40 ? w : more[w - 41];
      check_keys(trial, bytes, lengths, batch_sizes[b]);
    }
  free(bytes);
}

static void hash_mixed_lengths(const struct trial *trial)
{
  static size_t lengths[MAX_BATCH];
  uint8_t *bytes = test_alloc((size_t)MAX_BATCH * MAX_LENGTH);
  rng_fill(trial->rng, bytes, (size_t)MAX_BATCH * MAX_LENGTH);
  for (size_t b = 0; b < COUNT(batch_sizes); b++)
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

/* Around the lengths at which XXPH3 changes its ways: classes end at 128 and 240 bytes, and longer
 * keys are taken in stripes of 64 and blocks of 1024. */
static void hash_long_keys(const struct trial *trial)
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
  for (int time = 0; time < 20; time++) {
    for (size_t i = 0; i < N; i++)
      lengths[i] = rng_below(trial->rng, MAX_LONG_LENGTH + 1);
    check_keys(trial, bytes, lengths, N);
  }
  free(bytes);
}

/* Every key of the batch, not only the last, ends at an unmapped page; then every key begins at
 * one. */
static void check_page_edges(const struct trial *trial, size_t max_length)
{
  enum { N = 2 * (MAX_LENGTH + 1) };
  static lanebloom_slice slices[N];
  static uint8_t bytes[MAX_LONG_LENGTH], expected[8 * N];
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

    /* A chunk of 16 bytes ends at the page, or a byte before or behind: what may be loaded whole is
     * decided here. */
    for (size_t round = 0; round < 20; round++) {
      for (size_t i = 0; i < N; i++) {
        const size_t rest = rng_below(trial->rng, 34);
        const size_t length = rng_below(trial->rng, 6) * 16 + rng_below(trial->rng, 3);
        slices[i] = (lanebloom_slice){
            data.bytes + (place == AT_END ? max_length - length - rest : rest), length};
      }
      trial->reference->hash(&keys, expected);
      check_hash(trial, "hashes near the edge", &keys, expected, place);
    }
    guarded_free(&data);
  }
}

/* Each key where a sanitizer watches its ends. */
static void check_keys_of_malloc(const struct trial *trial)
{
  enum { N = 100 };
  static lanebloom_slice slices[N];
  static uint8_t expected[8 * N];
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

static void hash_at_page_edges(const struct trial *trial)
{
  check_keys_of_malloc(trial);
  check_page_edges(trial, MAX_LENGTH);
  check_page_edges(trial, MAX_LONG_LENGTH);
}

/* Bytes on either side of the sign, alone in each position and everywhere; all keys of a batch are
 * equal. */
static void hash_every_kind_of_byte(const struct trial *trial)
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

/* Keys around data + 2^31 and data + 2^32, where offsets turn negative or lose bits when a kernel
 * takes them for less than they are. */
static void hash_far_offsets(const struct trial *trial)
{
  enum { N = 40, WIDTH = 7 };
  static const uint64_t centres[] = {(uint64_t)1 << 31, UINT32_MAX - N * WIDTH, (uint64_t)1 << 32};
  static uint8_t expected[8 * N];
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

/* ---- Probing and adding ---- */

static void probe(const struct trial *trial, const struct operations *ops,
                  const struct filter_shape *shape, const uint8_t *payload, const void *hashes,
                  size_t n, uint8_t *bitmap)
{
  struct hash_source source;
  hash_source_of_hashes(&source, hashes, trial->format->hash_nbytes, n);
  ops->probe(shape, payload, &source, bitmap);
}

static void add(const struct trial *trial, const struct operations *ops,
                const struct filter_shape *shape, uint8_t *payload, const void *hashes, size_t n)
{
  struct hash_source source;
  hash_source_of_hashes(&source, hashes, trial->format->hash_nbytes, n);
  ops->add(shape, payload, &source);
}

/* Payloads are a multiple of so many bytes. */
static uint64_t unit(const struct format *format)
{
  return format->line_nbytes > 0 ? format->line_nbytes : 1;
}

/* Of a payload of nbytes, cut to whole units. */
static struct filter_shape shape_of(const struct format *format, uint64_t nbytes, uint32_t nprobes)
{
  const uint64_t nunits = nbytes / unit(format), nbits = nunits * unit(format) * 8;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nunits * unit(format),
      .nbits = nbits < format->max_nbits ? nbits : format->max_nbits,
      .nlines = format->line_nbytes > 0 ? (uint32_t)nunits : 0,
      .line_nbytes = format->line_nbytes,
      .reciprocal =
          format->line_nbytes > 0
              ? reciprocal_32((uint32_t)nunits)
              : reciprocal_29(
                    (uint32_t)((nbits < format->max_nbits ? nbits : format->max_nbits) / 8)),
  };
}

/* The number of probes to try after this one, up to the most that the format takes; then 0. Writers
 * make at most 30. */
static uint32_t next_nprobes(const struct format *format, uint32_t nprobes, uint32_t step)
{
  const uint32_t next = nprobes < 30   ? nprobes + step
                        : nprobes < 31 ? 31
                        : nprobes < 64 ? 64
                                       : nprobes + 63;
  return nprobes < 30 && next > 30 ? 30 : next <= format->max_nprobes ? next : 0;
}

static void note(const struct trial *trial, const struct filter_shape *shape, size_t n,
                 size_t round)
{
  test_context("%s: filter of %llu bytes in lines of %u, %u probes, %zu hashes, round %zu",
               trial->name, (unsigned long long)shape->nbytes, shape->line_nbytes, shape->nprobes,
               n, round);
}

/* Adds to a payload, which afterwards is what the reference made of it. */
static void check_add(const struct trial *trial, const struct filter_shape *shape, uint8_t *payload,
                      const void *hashes, size_t n)
{
  struct guarded found[NROUNDS];
  for (size_t round = 0; round < NROUNDS; round++) {
    note(trial, shape, n, round);
    struct guarded input =
        guarded_copy(hashes, n * trial->format->hash_nbytes, place_in(trial, round));
    guarded_freeze(&input);
    found[round] = guarded_copy(payload, shape->nbytes, place_in(trial, round));
    add(trial, trial->ops, shape, found[round].bytes, input.bytes, n);
    guarded_free(&input);
  }
  add(trial, trial->reference, shape, payload, hashes, n);
  for (size_t round = 0; round < NROUNDS; round++) {
    note(trial, shape, n, round);
    test_same_bytes("payload", found[round].bytes, payload, shape->nbytes);
    guarded_free(&found[round]);
  }
}

static void check_probe(const struct trial *trial, const struct filter_shape *shape,
                        const uint8_t *payload, const void *hashes, size_t n)
{
  uint8_t expected[(MAX_BATCH + 7) / 8];
  probe(trial, trial->reference, shape, payload, hashes, n, expected);
  for (size_t round = 0; round < NROUNDS; round++) {
    note(trial, shape, n, round);
    struct guarded input =
        guarded_copy(hashes, n * trial->format->hash_nbytes, place_in(trial, round));
    struct guarded filter = guarded_copy(payload, shape->nbytes, place_in(trial, round));
    guarded_freeze(&input);
    guarded_freeze(&filter);
    struct guarded bitmap = guarded_make((n + 7) / 8, place_in(trial, round));
    probe(trial, trial->ops, shape, filter.bytes, input.bytes, n, bitmap.bytes);
    test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
    guarded_free(&input);
    guarded_free(&filter);
    guarded_free(&bitmap);
  }
}

/* Adds n random hashes to an empty filter, some of them equal, then looks for half of them among
 * others. */
static void check_shape(const struct trial *trial, const struct filter_shape *shape, size_t n)
{
  const size_t hash_nbytes = trial->format->hash_nbytes;
  static uint8_t added[8 * MAX_BATCH], probed[8 * MAX_BATCH];
  rng_fill(trial->rng, added, n * hash_nbytes);
  rng_fill(trial->rng, probed, n * hash_nbytes);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && rng_below(trial->rng, 4) == 0)
      memcpy(added + i * hash_nbytes, added + (i - 1) * hash_nbytes, hash_nbytes);
    if (rng_below(trial->rng, 2))
      memcpy(probed + i * hash_nbytes, added + i * hash_nbytes, hash_nbytes);
  }

  uint8_t *payload = test_alloc(shape->nbytes);
  check_add(trial, shape, payload, added, n);
  check_probe(trial, shape, payload, probed, n);
  free(payload);
}

static void check_filter(const struct trial *trial, uint64_t nunits, uint32_t nprobes, size_t n)
{
  const struct filter_shape shape = shape_of(trial->format, nunits * unit(trial->format), nprobes);
  check_shape(trial, &shape, n);
}

static void filter_batch_sizes(const struct trial *trial)
{
  static const uint64_t sizes[] = {8, 61, 1250, 8191};
  for (size_t s = 0; s < COUNT(sizes) - !is_built(trial->format); s++)
    for (size_t b = 0; b < COUNT(batch_sizes); b++)
      for (uint32_t p = 1; p > 0; p = next_nprobes(trial->format, p, p < 8 ? 1 : 11))
        check_filter(trial, sizes[s], p, batch_sizes[b]);
}

/* Small ones are full after few hashes, so their batches are small. */
static void filter_shapes(const struct trial *trial)
{
  static const uint64_t more[] = {100,  127,  128,  129,  255,   256,  257,
                                  1000, 4095, 4096, 4097, 65537, 99991};
  const bool built = is_built(trial->format);
  for (uint64_t s = 1; s <= 80 + COUNT(more) - (built ? 0 : 2); s++)
    for (uint32_t p = 1; p > 0; p = next_nprobes(trial->format, p, s <= 80 && built ? 1 : 7)) {
      const uint64_t nunits = s <= 80 ? s : more[s - 81];
      check_filter(trial, nunits, p, 1 + nunits * 4 / p % 100);
    }
}

/* What follows the last whole line is neither read nor written: unmapped pages may lie there. */
static void filter_rests_of_lines(const struct trial *trial)
{
  enum { N = 100 };
  static const uint64_t rests[] = {1, 5, 8, 31, 32, 59, 63};
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (uint64_t nlines = 1; nlines <= 9 && trial->format->may_have_rest; nlines++)
    for (size_t r = 0; r < COUNT(rests); r++) {
      struct filter_shape shape = shape_of(trial->format, nlines * unit(trial->format), 6);
      const uint64_t whole_nbytes = shape.nbytes;
      shape.nbytes += rests[r];
      check_shape(trial, &shape, N);

      uint8_t hashes[8 * N], expected[(N + 7) / 8], bitmap[(N + 7) / 8];
      rng_fill(trial->rng, hashes, sizeof hashes);
      struct guarded payload = guarded_make(whole_nbytes, AT_END);
      memset(payload.bytes, 0, whole_nbytes);
      note(trial, &shape, N, 0);
      add(trial, trial->ops, &shape, payload.bytes, hashes, N / 2);
      guarded_freeze(&payload);
      probe(trial, trial->reference, &shape, payload.bytes, hashes, N, expected);
      probe(trial, trial->ops, &shape, payload.bytes, hashes, N, bitmap);
      test_same_bytes("bitmap", bitmap, expected, sizeof expected);
      for (size_t i = 0; i < N / 2; i++)
        if (!(bitmap[i / 8] >> i % 8 & 1))
          test_fatal("hash %zu of %zu bytes was added and does not pass", i, hash_nbytes);
      guarded_free(&payload);
    }
}

/* Hashes of no bits, of all, and of one or all but one. In filters of no bits, some, and all. */
static void filter_every_kind_of_hash(const struct trial *trial)
{
  const size_t hash_nbytes = trial->format->hash_nbytes, nbits = hash_nbytes * 8;
  uint8_t hashes[8 * 2 * 66] = {0};
  size_t n = 0;
  for (size_t bit = 0; bit <= nbits; bit++)
    for (uint8_t around = 0; around < 2; around++) {
      uint8_t *hash = hashes + hash_nbytes * n++;
      memset(hash, around ? 0xff : 0, hash_nbytes);
      if (bit < nbits)
        hash[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }

  static const uint64_t sizes[] = {1, 8, 9, 1250};
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (uint32_t p = 1; p > 0; p = next_nprobes(trial->format, p, 1)) {
      const struct filter_shape shape = shape_of(trial->format, sizes[s] * unit(trial->format), p);
      uint8_t *payload = test_alloc(shape.nbytes);
      check_probe(trial, &shape, payload, hashes, n);
      check_add(trial, &shape, payload, hashes, n / 2);
      check_probe(trial, &shape, payload, hashes, n);
      rng_fill(trial->rng, payload, shape.nbytes);
      check_add(trial, &shape, payload, hashes + n / 2 * hash_nbytes,
                5); /* what is set stays set */
      memset(payload, 0xff, shape.nbytes);
      check_probe(trial, &shape, payload, hashes, n);
      free(payload);
    }
}

/* All bits are set but one that a known probe of a known hash meets. That hash must not pass,
 * whichever probe it is. */
static void filter_each_probe_decides(const struct trial *trial)
{
  enum { N = 65 };
  const struct format_table *table = lanebloom_format_table(trial->format->id);
  const size_t hash_nbytes = trial->format->hash_nbytes;
  uint8_t hashes[8 * N];
  uint64_t positions[256];
  for (uint32_t nprobes = 1; nprobes > 0; nprobes = next_nprobes(trial->format, nprobes, 1)) {
    const struct filter_shape shape = shape_of(trial->format, 1251 * unit(trial->format), nprobes);
    uint8_t *payload = test_alloc(shape.nbytes);
    for (uint32_t p = 0; p < nprobes; p++) {
      rng_fill(trial->rng, hashes, N * hash_nbytes);
      const size_t lane = rng_below(trial->rng, N);
      table->positions(&shape, hashes + lane * hash_nbytes, positions);
      const uint64_t expected =
          trial->format->model->position(&shape, hashes + lane * hash_nbytes, p);
      if (positions[p] != expected)
        test_fatal("probe %u of %u is at %llu, expected %llu", p, nprobes,
                   (unsigned long long)positions[p], (unsigned long long)expected);
      memset(payload, 0xff, shape.nbytes);
      payload[positions[p] / 8] ^= (uint8_t)(1 << positions[p] % 8);
      check_probe(trial, &shape, payload, hashes, N);

      uint8_t bitmap[(N + 7) / 8];
      probe(trial, trial->ops, &shape, payload, hashes, N, bitmap);
      if (bitmap[lane / 8] >> lane % 8 & 1)
        test_fatal("probe %u of hash %zu meets a clear bit, and the hash passes", p, lane);
    }
    free(payload);
  }
}

static void check_large(const struct trial *trial, uint64_t nbytes)
{
  enum { N = 33 };
  const size_t hash_nbytes = trial->format->hash_nbytes;
  const struct filter_shape shape = shape_of(trial->format, nbytes, 11);
  uint8_t hashes[8 * 2 * N], expected[(2 * N + 7) / 8];
  rng_fill(trial->rng, hashes, sizeof hashes);
  memset(hashes, 0xff,
         hash_nbytes); /* the highest bit; 0 where a LevelDB filter has eight bits less */
  note(trial, &shape, N, 0);

  struct guarded found = guarded_sparse(shape.nbytes), wanted = guarded_sparse(shape.nbytes);
  add(trial, trial->ops, &shape, found.bytes, hashes, N);
  add(trial, trial->reference, &shape, wanted.bytes, hashes, N);
  test_same_sparse("payload", &found, &wanted);
  probe(trial, trial->reference, &shape, wanted.bytes, hashes, 2 * N, expected);

  struct guarded bitmap = guarded_make(sizeof expected, AT_END);
  guarded_freeze(&found);
  probe(trial, trial->ops, &shape, found.bytes, hashes, 2 * N, bitmap.bytes);
  test_same_bytes("bitmap", bitmap.bytes, expected, sizeof expected);
  guarded_free(&bitmap);
  guarded_free(&found);
  guarded_free(&wanted);
}

/* From 2^29 bytes on a 32-bit hash cannot reach all bits, and 32 bits cannot hold their number. */
static void filter_around_2_to_32_bits(const struct trial *trial)
{
  static const int64_t beyond[] = {-1, 0, 1, 12345};
  for (size_t b = 0; b < COUNT(beyond); b++)
    check_large(trial, ((uint64_t)1 << 29) + (uint64_t)beyond[b]);
}

/* Mappings fail while memory is refused; but the address sanitizer maps memory of its own, and is
 * spared. */
static void test_refuse_memory(bool refuse)
{
#if defined(__SANITIZE_ADDRESS__)
  (void)refuse;
#else
  static struct rlimit before;
  if (refuse)
    cr_assert(getrlimit(RLIMIT_AS, &before) == 0);
  const struct rlimit limit = {.rlim_cur = refuse ? 0 : before.rlim_cur,
                               .rlim_max = before.rlim_max};
  cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
}

/* Filters that no cache holds, and batches from one at a time to so many that positions of hashes
 * are kept and set together, more than are ever kept: random ones; all equal ones, which meet in
 * few places; and where there is no memory to keep them. */
static void filter_beyond_caches(const struct trial *trial)
{
  enum { MANY = 700000, MIB = 1 << 20 };
  static const struct {
    uint64_t nbytes;
    uint32_t nprobes;
    size_t n;
    enum { RANDOM, EQUAL, NO_MEMORY } kind;
  } rows[] = {
      {16 * MIB, 6, 1, RANDOM},
      {16 * MIB, 6, 43689, RANDOM},
      {16 * MIB, 6, 43690, RANDOM},
      {16 * MIB, 6, MANY, RANDOM},
      {16 * MIB, 6, MANY, EQUAL},
      {16 * MIB, 6, MANY, NO_MEMORY},
      {16 * MIB + 1, 6, 50000, RANDOM},
      {16 * MIB + 1, 30, MANY, RANDOM},
      {20 * MIB - 77, 1, MANY, RANDOM},
      {20 * MIB - 77, 6, MANY, EQUAL},
      {20 * MIB - 77, 6, 60007, NO_MEMORY},
  };
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (size_t r = 0; r < COUNT(rows); r++) {
    const struct filter_shape shape = shape_of(trial->format, rows[r].nbytes, rows[r].nprobes);
    const size_t n = rows[r].n;
    struct guarded hashes = guarded_make(n * hash_nbytes, place_in(trial, r));
    rng_fill(trial->rng, hashes.bytes, n * hash_nbytes);
    if (rows[r].kind == EQUAL)
      for (size_t i = 3; i < n; i++)
        memcpy(hashes.bytes + i * hash_nbytes, hashes.bytes + i % 3 * hash_nbytes, hash_nbytes);
    guarded_freeze(&hashes);
    struct guarded found = guarded_make(shape.nbytes, place_in(trial, r));
    struct guarded wanted = guarded_make(shape.nbytes, AT_END);
    memset(found.bytes, 0, shape.nbytes);
    memset(wanted.bytes, 0, shape.nbytes);
    note(trial, &shape, n, r);
    if (rows[r].kind == NO_MEMORY)
      test_refuse_memory(true);
    add(trial, trial->ops, &shape, found.bytes, hashes.bytes, n);
    if (rows[r].kind == NO_MEMORY)
      test_refuse_memory(false);
    add(trial, trial->reference, &shape, wanted.bytes, hashes.bytes, n);
    test_same_bytes("payload", found.bytes, wanted.bytes, shape.nbytes);
    guarded_free(&hashes);
    guarded_free(&found);
    guarded_free(&wanted);
  }
}

/* Formats that end at 2^32 bytes, near there and where half of them begins: lines are nearly 2^26,
 * or 2^32 small ones. */
static void filter_around_2_to_32_bytes(const struct trial *trial)
{
  if (trial->format->max_nbytes == 0)
    return;
  check_large(trial, ((uint64_t)1 << 31) + 12345);
  check_large(trial, trial->format->max_nbytes);
}

/* ---- Large batches: kernels work in other ways beyond the second-level cache, and by the hits
 * that they meet ---- */

enum { LARGE_BATCH = 20000, NPRESENT = 3000 };
enum { LARGEST_NBYTES = 40 * 1048583 };

/* Hashes by runs of so many, every second run of which hits with another chance in a hundred. */
static const struct mix {
  size_t run;
  unsigned percent[2];
} mixes[] = {
    {1, {0, 0}},    {1, {100, 100}},  {1, {50, 50}},    {1, {3, 3}},      {1, {97, 97}},
    {64, {0, 100}}, {1000, {100, 0}}, {1024, {0, 100}}, {7001, {100, 0}}, {9000, {0, 60}},
};

struct large_filter {
  struct filter_shape shape;
  struct guarded payload; /* random bits, and those of `present` */
  uint8_t present[8 * NPRESENT];
};

/* Half of the bits are set, or after `nhalvings` more a quarter, ... */
static struct large_filter *large_filter_make(const struct trial *trial, uint64_t nbytes,
                                              uint32_t nprobes, unsigned nhalvings, size_t place)
{
  struct large_filter *filter = test_alloc(sizeof *filter);
  filter->shape = shape_of(trial->format, nbytes, nprobes);
  filter->payload = guarded_make(filter->shape.nbytes, place);
  rng_fill(trial->rng, filter->payload.bytes, filter->payload.nbytes);
  for (; nhalvings > 0; nhalvings--)
    for (size_t i = 0; i + 8 <= filter->payload.nbytes; i += 8) {
      uint64_t eight;
      memcpy(&eight, filter->payload.bytes + i, sizeof eight);
      eight &= rng_next(trial->rng);
      memcpy(filter->payload.bytes + i, &eight, sizeof eight);
    }
  rng_fill(trial->rng, filter->present, sizeof filter->present);
  add(trial, trial->reference, &filter->shape, filter->payload.bytes, filter->present, NPRESENT);
  guarded_freeze(&filter->payload);
  return filter;
}

static void large_filter_free(struct large_filter *filter)
{
  guarded_free(&filter->payload);
  free(filter);
}

static void mix_hashes(const struct trial *trial, const struct large_filter *filter,
                       const struct mix *mix, size_t n, uint8_t *hashes)
{
  const size_t hash_nbytes = trial->format->hash_nbytes;
  rng_fill(trial->rng, hashes, n * hash_nbytes);
  for (size_t i = 0; i < n; i++)
    if (rng_below(trial->rng, 100) < mix->percent[i / mix->run % 2])
      memcpy(hashes + i * hash_nbytes,
             filter->present + rng_below(trial->rng, NPRESENT) * hash_nbytes, hash_nbytes);
}

/* The first n hits of these. */
static void test_same_hits(const uint8_t *found, const uint8_t *expected, size_t n)
{
  test_same_bytes("bitmap", found, expected, n / 8);
  if (n % 8 == 0)
    return;
  const uint8_t last = (uint8_t)(expected[n / 8] & ((1 << n % 8) - 1));
  test_same_bytes("last byte of the bitmap", found + n / 8, &last, 1);
}

static void check_hashes(const struct trial *trial, const struct large_filter *filter,
                         const uint8_t *hashes, size_t n, const uint8_t *expected, size_t place)
{
  struct guarded input = guarded_copy(hashes, n * trial->format->hash_nbytes, place);
  struct guarded bitmap = guarded_make((n + 7) / 8, place);
  guarded_freeze(&input);
  probe(trial, trial->ops, &filter->shape, filter->payload.bytes, input.bytes, n, bitmap.bytes);
  test_same_hits(bitmap.bytes, expected, n);
  guarded_free(&input);
  guarded_free(&bitmap);
}

/* A kernel that finds out how many hits there are must answer alike before and after. */
static void large_hit_rates(const struct trial *trial)
{
  enum { MAX_SIZES = 5, WITHOUT_BUILDING = 3 };
  static const struct {
    uint64_t nbytes;
    uint32_t nprobes;
    unsigned nhalvings;
  } sizes[MAX_SIZES] = {
      {300007, 7, 0}, {1 << 20, 6, 1}, {3 << 20, 30, 0}, {4299961, 6, 0}, {LARGEST_NBYTES, 11, 1}};
  static uint8_t hashes[8 * LARGE_BATCH], expected[LARGE_BATCH / 8];
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (size_t s = is_built(trial->format) ? 0 : WITHOUT_BUILDING; s < MAX_SIZES; s++) {
    struct large_filter *filter = large_filter_make(trial, sizes[s].nbytes, sizes[s].nprobes,
                                                    sizes[s].nhalvings, s % 2 ? AT_END : AT_BEGIN);
    for (size_t m = 0; m < COUNT(mixes); m++) {
      mix_hashes(trial, filter, &mixes[m], LARGE_BATCH, hashes);
      probe(trial, trial->reference, &filter->shape, filter->payload.bytes, hashes, LARGE_BATCH,
            expected);
      note(trial, &filter->shape, LARGE_BATCH, m);
      check_hashes(trial, filter, hashes, LARGE_BATCH, expected, place_in(trial, m % 2));
      const size_t first = 8 * rng_below(trial->rng, LARGE_BATCH / 16), n = LARGE_BATCH / 2 - 1 - m;
      note(trial, &filter->shape, n, m);
      check_hashes(trial, filter, hashes + first * hash_nbytes, n, expected + first / 8,
                   place_in(trial, NROUNDS));
    }
    for (int is_present = 0; is_present < 2; is_present++) {
      for (size_t i = 0; i < LARGE_BATCH; i++)
        memcpy(hashes + i * hash_nbytes, is_present ? filter->present : hashes, hash_nbytes);
      test_context("%s: filter of %llu bytes, all hashes equal, %d", trial->name,
                   (unsigned long long)filter->shape.nbytes, is_present);
      probe(trial, trial->reference, &filter->shape, filter->payload.bytes, hashes, 1, expected);
      memset(expected, expected[0] ? 0xff : 0, sizeof expected);
      check_hashes(trial, filter, hashes, LARGE_BATCH - 3, expected, AT_END);
    }
    large_filter_free(filter);
  }
}

/* Pipelines that are never full, and every number of hashes that is left when they are drained. */
static void large_batch_sizes(const struct trial *trial)
{
  enum { MAX_N = 1500, MAX_STEP = 97 };
  static const uint64_t sizes[] = {3 << 20, 5000011};
  static uint8_t hashes[8 * MAX_N], expected[(MAX_N + 7) / 8];
  for (size_t s = is_built(trial->format) ? 0 : 1; s < COUNT(sizes); s++) {
    struct large_filter *filter =
        large_filter_make(trial, sizes[s], s == 0 ? 5 : 6, 0, s == 0 ? AT_BEGIN : AT_END);
    for (size_t m = 0; m < 3; m++) {
      mix_hashes(trial, filter, &mixes[m], MAX_N, hashes);
      probe(trial, trial->reference, &filter->shape, filter->payload.bytes, hashes, MAX_N,
            expected);
      for (size_t n = 0; n <= MAX_N; n += n < 300 ? 1 : rng_below(trial->rng, MAX_STEP)) {
        note(trial, &filter->shape, n, m);
        check_hashes(trial, filter, hashes, n, expected, place_in(trial, n % 2));
      }
    }
    large_filter_free(filter);
  }
}

/* Adding many hashes, and many times the same, to what has bits already. */
static void large_adding(const struct trial *trial)
{
  static const uint64_t sizes[] = {4299961, 300007, LARGEST_NBYTES};
  static uint8_t hashes[8 * LARGE_BATCH];
  const size_t hash_nbytes = trial->format->hash_nbytes;
  for (size_t s = 0; s < (is_built(trial->format) ? COUNT(sizes) : 1); s++) {
    struct large_filter *filter = large_filter_make(trial, sizes[s], s == 0 ? 30 : 6, 2, AT_END);
    struct guarded wanted = guarded_copy(filter->payload.bytes, filter->shape.nbytes, AT_END);
    for (size_t round = 0; round < 2; round++) {
      const size_t n = LARGE_BATCH - 5 * (1 - round);
      rng_fill(trial->rng, hashes, sizeof hashes);
      for (size_t i = 0; i < LARGE_BATCH / 2; i++) /* runs of one hash, the longest first */
        memcpy(hashes + (i + 1) * hash_nbytes,
               hashes + (rng_below(trial->rng, i + 1) ? i : i + 1) * hash_nbytes, hash_nbytes);
      note(trial, &filter->shape, n, round);
      struct guarded input = guarded_copy(hashes, n * hash_nbytes, place_in(trial, round));
      struct guarded found =
          guarded_copy(wanted.bytes, filter->shape.nbytes, place_in(trial, round));
      guarded_freeze(&input);
      add(trial, trial->ops, &filter->shape, found.bytes, input.bytes, n);
      add(trial, trial->reference, &filter->shape, wanted.bytes, hashes, n);
      test_same_bytes("payload", found.bytes, wanted.bytes, filter->shape.nbytes);
      guarded_free(&input);
      guarded_free(&found);
    }
    guarded_free(&wanted);
    large_filter_free(filter);
  }
}

/* ---- Keys that are hashed while they are probed or added ---- */

/* Probes keys, half of which are in the filter, and adds them, in the blocks that a kernel asks
 * for. */
static void check_source(const struct trial *trial, const struct filter_shape *shape,
                         const lanebloom_keys *keys, size_t round)
{
  const size_t hash_nbytes = trial->format->hash_nbytes, n = keys->n;
  uint8_t *hashes = test_alloc(n * hash_nbytes), *payload = test_alloc(shape->nbytes);
  uint8_t *expected = test_alloc((n + 7) / 8);
  lanebloom_slice *slices = test_alloc(n * sizeof *slices);
  for (size_t i = 0; i < n; i++)
    slices[i] = keys_at(keys, i);
  const lanebloom_keys as_slices = lanebloom_keys_slices(slices, n);
  trial->reference->hash(&as_slices, hashes);
  rng_fill(trial->rng, payload, shape->nbytes);
  add(trial, trial->reference, shape, payload, hashes, n / 2);
  probe(trial, trial->reference, shape, payload, hashes, n, expected);

  struct guarded filter = guarded_copy(payload, shape->nbytes, place_in(trial, round));
  struct guarded bitmap = guarded_make((n + 7) / 8, place_in(trial, round));
  struct hash_source source;
  hash_source_of_keys(&source, keys, trial->ops->hash, hash_nbytes);
  trial->ops->probe(shape, filter.bytes, &source, bitmap.bytes);
  test_same_bytes("bitmap", bitmap.bytes, expected, (n + 7) / 8);
  test_same_bytes("payload that was probed", filter.bytes, payload, shape->nbytes);

  hash_source_of_keys(&source, keys, trial->ops->hash, hash_nbytes);
  trial->ops->add(shape, filter.bytes, &source);
  add(trial, trial->reference, shape, payload, hashes, n);
  test_same_bytes("payload", filter.bytes, payload, shape->nbytes);
  guarded_free(&bitmap);
  guarded_free(&filter);
  free(slices);
  free(expected);
  free(payload);
  free(hashes);
}

static void sources_of_keys(const struct trial *trial)
{
  enum { B = BLOCK_NKEYS, MAX_N = 5 * B + 9, WIDE = 40 };
  static const size_t counts[] = {0,    1,     7, 8,     31,         65,        127,
                                  1000, B - 1, B, B + 1, 2 * B + 63, 3 * B - 5, MAX_N};
  static const size_t widths[] = {0, 1, 3, 8, 16, 21, WIDE};
  static uint32_t offsets[MAX_N + 1];
  uint8_t *bytes = test_alloc((size_t)MAX_N * WIDE);
  rng_fill(trial->rng, bytes, (size_t)MAX_N * WIDE);
  for (size_t i = 0; i < MAX_N; i++)
    offsets[i + 1] = offsets[i] + (uint32_t)rng_below(trial->rng, i % 2000 < 1000 ? 12 : WIDE + 1);
  for (size_t c = 0; c < COUNT(counts); c++)
    for (size_t w = 0; w <= COUNT(widths); w++) {
      const bool beyond =
          c == COUNT(counts) - 1 || (c + w) % 5 == 0; /* second-level caches, many of them */
      const struct filter_shape shape =
          shape_of(trial->format, beyond ? 2500019 : 20011, 1 + (uint32_t)(c + w) % 8);
      const bool is_fixed = w < COUNT(widths);
      const size_t n = counts[c], nbytes = is_fixed ? n * widths[w] : offsets[n];
      test_context("%s: filter of %llu bytes, %u probes, %zu keys, width %zu", trial->name,
                   (unsigned long long)shape.nbytes, shape.nprobes, n,
                   is_fixed ? widths[w] : SIZE_MAX);
      struct guarded data = guarded_copy(bytes, nbytes, place_in(trial, c % 2));
      guarded_freeze(&data);
      const lanebloom_keys keys = is_fixed ? lanebloom_keys_fixed(data.bytes, widths[w], n)
                                           : lanebloom_keys_offsets32(data.bytes, offsets, n);
      check_source(trial, &shape, &keys, c % 2);
      guarded_free(&data);
    }
  free(bytes);
}

/* ---- The public calls, which cut a batch into blocks ---- */

enum { WIDTH = 8 };

/* What the calls should say of n keys: the reference's operations on the whole batch at once. */
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
  probe(trial, trial->reference, shape, payload, expected.hashes, n, expected.bitmap);
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
  struct guarded hashes = guarded_make(hashes_nbytes, place_in(trial, round));
  cr_assert(lanebloom_hash(trial->format->id, keys, hashes.bytes) == LANEBLOOM_OK, "hash");
  test_same_bytes("hashes", hashes.bytes, expected->hashes, hashes_nbytes);
  guarded_freeze(&hashes);

  struct guarded bitmap = guarded_make(bitmap_nbytes, place_in(trial, round));
  if (lanebloom_filter_screen_hashes(filter, hashes.bytes, expected->n, bitmap.bytes) !=
      expected->count)
    test_fatal("screen_hashes: not %zu", expected->count);
  test_same_bytes("bitmap of screen_hashes", bitmap.bytes, expected->bitmap, bitmap_nbytes);
  guarded_free(&bitmap);
  guarded_free(&hashes);

  bitmap = guarded_make(bitmap_nbytes, place_in(trial, round));
  if (lanebloom_filter_screen(filter, keys, bitmap.bytes) != expected->count)
    test_fatal("screen: not %zu", expected->count);
  test_same_bytes("bitmap of screen", bitmap.bytes, expected->bitmap, bitmap_nbytes);
  guarded_free(&bitmap);
  if (lanebloom_filter_screen(filter, keys, NULL) != expected->count)
    test_fatal("screen that only counts: not %zu", expected->count);

  struct guarded indices = guarded_make(expected->n * sizeof(uint32_t), aligned_place_in(round));
  if (lanebloom_filter_select(filter, keys, (void *)indices.bytes) != expected->count)
    test_fatal("select: not %zu", expected->count);
  test_same_bytes("indices", indices.bytes, expected->indices, expected->count * sizeof(uint32_t));
  guarded_free(&indices);
}

/* A filter of n keys, asked for n others of which half are in it. Each round has its own layout of
 * keys. */
static void check_calls(const struct trial *trial, size_t n, size_t round)
{
  test_context("%s: public calls on %zu keys, round %zu", trial->name, n, round);
  uint8_t *bytes = test_alloc(2 * n * WIDTH);
  rng_fill(trial->rng, bytes, 2 * n * WIDTH);
  for (size_t i = 0; i < n; i++)
    if (rng_below(trial->rng, 2))
      memcpy(bytes + (n + i) * WIDTH, bytes + i * WIDTH, WIDTH);

  uint32_t *offsets32 = test_alloc((2 * n + 1) * sizeof *offsets32);
  uint64_t *offsets64 = test_alloc((2 * n + 1) * sizeof *offsets64);
  lanebloom_slice *slices = test_alloc((2 * n + 1) * sizeof *slices);
  for (size_t i = 0; i <= 2 * n; i++) {
    offsets32[i] = (uint32_t)(i * WIDTH);
    offsets64[i] = i * WIDTH;
    slices[i] = (lanebloom_slice){bytes + i * WIDTH, WIDTH};
  }
  const lanebloom_keys layouts[NROUNDS] = {
      lanebloom_keys_fixed(bytes, WIDTH, 2 * n),
      lanebloom_keys_offsets32(bytes, offsets32, 2 * n),
      lanebloom_keys_offsets64(bytes, offsets64, 2 * n),
      lanebloom_keys_slices(slices, 2 * n),
  };
  const lanebloom_keys added = lanebloom_keys_part(&layouts[round], 0, n);
  const lanebloom_keys asked = lanebloom_keys_part(&layouts[round], n, n);

  struct filter_shape shape;
  cr_assert(lanebloom_format_table(trial->format->id)->plan(10000, n, &shape) == LANEBLOOM_OK,
            "plan");
  uint8_t *payload = test_alloc(shape.nbytes), *hashes = test_alloc(n * trial->format->hash_nbytes);
  const lanebloom_keys added_slices = lanebloom_keys_slices(slices, n);
  trial->reference->hash(&added_slices, hashes);
  add(trial, trial->reference, &shape, payload, hashes, n);
  struct answers expected = expect(trial, &shape, payload, slices + n, n);

  lanebloom_filter *filter;
  size_t size;
  cr_assert(lanebloom_filter_build(trial->format->id, 10, &added, &filter) == LANEBLOOM_OK,
            "build");
  const void *built = lanebloom_filter_bytes(filter, &size);
  cr_assert(size >= shape.nbytes, "a filter of %zu bytes", size);
  test_same_bytes("payload of build", built, payload, shape.nbytes);
  check_answers(trial, round, filter, &asked, &expected);

  lanebloom_filter_close(filter);
  free(expected.indices);
  free(expected.bitmap);
  free(expected.hashes);
  free(hashes);
  free(payload);
  free(slices);
  free(offsets64);
  free(offsets32);
  free(bytes);
}

static void calls_around_a_block(const struct trial *trial)
{
  enum { B = BLOCK_NKEYS };
  static const size_t sizes[] = {0, 1,     7,         8,     9,         65,       B - 1,
                                 B, B + 1, 2 * B - 1, 2 * B, 2 * B + 1, 5 * B + 7};
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t round = 0; round < NROUNDS; round++)
      check_calls(trial, sizes[s], round);
}

/* A chunk is what the calls give a kernel at once. */
static void calls_around_a_chunk(const struct trial *trial)
{
  enum { CHUNK = 1 << 15 }; /* of screen.c */
  static const size_t sizes[] = {CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 9};
  for (size_t s = 0; s < COUNT(sizes); s++)
    check_calls(trial, sizes[s], s % NROUNDS);
}

/* ---- The table ---- */

enum rows { ONCE_PER_FORMAT, EVERY_ROW };

static const struct {
  const char *name;
  void (*run)(const struct trial *trial);
  enum rows rows;
} cases[] = {
    {"hash, one width", hash_one_width, ONCE_PER_FORMAT},
    {"hash, mixed lengths", hash_mixed_lengths, ONCE_PER_FORMAT},
    {"hash, long keys", hash_long_keys, ONCE_PER_FORMAT},
    {"hash, at page edges", hash_at_page_edges, ONCE_PER_FORMAT},
    {"hash, every kind of byte", hash_every_kind_of_byte, ONCE_PER_FORMAT},
    {"hash, far offsets", hash_far_offsets, ONCE_PER_FORMAT},
    {"filter, batch sizes", filter_batch_sizes, EVERY_ROW},
    {"filter, shapes", filter_shapes, EVERY_ROW},
    {"filter, rests of lines", filter_rests_of_lines, EVERY_ROW},
    {"filter, every kind of hash", filter_every_kind_of_hash, EVERY_ROW},
    {"filter, each probe decides", filter_each_probe_decides, EVERY_ROW},
    {"filter, beyond caches", filter_beyond_caches, ONCE_PER_FORMAT},
    {"filter, around 2^32 bits", filter_around_2_to_32_bits, EVERY_ROW},
    {"filter, around 2^32 bytes", filter_around_2_to_32_bytes, EVERY_ROW},
    {"large, hit rates", large_hit_rates, EVERY_ROW},
    {"large, batch sizes", large_batch_sizes, EVERY_ROW},
    {"large, adding", large_adding, EVERY_ROW},
    {"sources of keys", sources_of_keys, ONCE_PER_FORMAT},
    {"calls, around a block", calls_around_a_block, ONCE_PER_FORMAT},
    {"calls, around a chunk", calls_around_a_chunk, ONCE_PER_FORMAT},
};

struct cell {
  size_t kernel, the_case;
};

enum { MAX_KERNELS = 32 };

ParameterizedTestParameters(kernels, agree)
{
  static struct cell cells[MAX_KERNELS * COUNT(cases)];
  size_t n = 0;
  for (size_t kernel = 0; kernel < lanebloom_kernel_count() && kernel < MAX_KERNELS; kernel++)
    for (size_t c = 0; c < COUNT(cases); c++)
      cells[n++] = (struct cell){kernel, c};
  return cr_make_param_array(struct cell, cells, n);
}

ParameterizedTest(struct cell *cell, kernels, agree)
{
  const char *kernel = lanebloom_kernel_name(cell->kernel);
  cr_assert(kernel, "kernel %zu has no name", cell->kernel);
  cr_assert(lanebloom_kernel_use(kernel) == LANEBLOOM_OK, "kernel %s cannot be used", kernel);
  const struct kernel_table *table = lanebloom_kernels_current();
  cr_assert(strcmp(table->name, kernel) == 0, "kernel %s is used instead of %s", table->name,
            kernel);
  struct rng rng = rng_start(cell->the_case);

  for (size_t f = 0; f < COUNT(formats); f++) {
    const struct format *format = &formats[f];
    if (cases[cell->the_case].rows == ONCE_PER_FORMAT && !is_built(format))
      continue;
    char name[128];
    snprintf(name, sizeof name, "%s, %s, %s", kernel, lanebloom_format_name(format->id),
             cases[cell->the_case].name);
    const struct format_table *found = lanebloom_format_table(format->id);
    const struct operations ops = operations_of(table, found),
                            scalar = operations_of(&lanebloom_kernels_scalar, found);
    cases[cell->the_case].run(&(struct trial){
        .name = name,
        .format = format,
        .ops = &ops,
        .reference = table == &lanebloom_kernels_scalar ? &format->model->ops : &scalar,
        .rng = &rng,
    });
  }
}

/* Else nobody would miss them. */
Test(kernels, kernels_of_another_cpu_take_part)
{
  const char *const emulated = LANEBLOOM_TEST_EMULATED;
  if (*emulated)
    cr_assert(lanebloom_kernel_use(emulated) == LANEBLOOM_OK, "%s is not in the list", emulated);
}

/* What is not in the table would not be tested at all. */
Test(kernels, every_kernel_and_format_has_a_row)
{
  cr_assert(lanebloom_kernel_count() <= MAX_KERNELS, "MAX_KERNELS is too small");
  for (int id = 0; id < FORMAT_END; id++) {
    const size_t hash_nbytes = lanebloom_format_hash_size((lanebloom_format)id);
    size_t nrows = 0;
    for (size_t f = 0; f < COUNT(formats); f++)
      nrows += (int)formats[f].id == id && is_built(&formats[f]) &&
               hash_nbytes == formats[f].hash_nbytes;
    cr_assert(nrows == (hash_nbytes > 0), "format %d has %zu rows", id, nrows);
  }
}
