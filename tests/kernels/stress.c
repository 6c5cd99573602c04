/* Compares every kernel with scalar on as many random (key, filter) pairs as requested:
 *   test_stress [PAIRS [SEED [TRIAL]]]
 * A trial is a filter and a batch of keys, which each kernel hashes, probes and adds, with all
 * buffers at unmapped pages. SEED and the number of a trial determine it. If results differ, the
 * program prints the arguments that repeat that trial alone.
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch.h"
#include "criterion/criterion.h" /* plain/'s: support.c calls plain_fail() below */
#include "format.h"
#include "keys.h"
#include "model.h"
#include "sorted.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

void plain_fail(const char *file, int line, const char *condition, const char *text, ...)
{
  (void)file, (void)line, (void)condition;
  va_list values;
  va_start(values, text);
  printf("not ok -");
  vprintf(text, values);
  printf("\n");
  va_end(values);
  exit(EXIT_FAILURE);
}

/* ---- Random numbers ---- */

/* Returns a number from 1 to most; every magnitude is equally likely. */
static uint64_t some(struct rng *rng, uint64_t most)
{
  const unsigned nbits = 64 - (unsigned)__builtin_clzll(most);
  const uint64_t below = (uint64_t)1 << (1 + rng_below(rng, nbits));
  return 1 + rng_below(rng, below < most ? below : most);
}

static bool one_in(struct rng *rng, uint64_t n)
{
  return rng_below(rng, n) == 0;
}

/* Returns a place, mostly one that touches an unmapped page. */
static size_t some_place(struct rng *rng)
{
  return rng_below(rng, one_in(rng, 4) ? NPLACES : AT_BEGIN + 1);
}

/* ---- Keys ---- */

enum {
  NLAYOUTS = KEYS_STRINGS + 1,
  MAX_NKEYS = 70000,
  MAX_KEY_NBYTES = 1500,
  MAX_KEYS_NBYTES = 4 << 20
};

struct batch {
  struct guarded data, index;
  lanebloom_keys keys;
  lanebloom_keys as_slices; /* the same keys, for the reference; valid until the next batch */
};

/* Draws the offsets of keys, and the end of the last key. There are four kinds of batches: all keys
 * have the same length; each has any length up to that; runs of keys alternate between two lengths;
 * or only a few keys are long. */
static size_t some_offsets(struct rng *rng, size_t n, uint64_t *offsets)
{
  const uint64_t kind = rng_below(rng, 4);
  const size_t most = one_in(rng, 10) ? some(rng, MAX_KEY_NBYTES) : rng_below(rng, 40);
  offsets[0] = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t length = kind == 0   ? most
                          : kind == 1 ? rng_below(rng, most + 1)
                          : kind == 2 ? (i / 700 % 2 ? most : 8)
                          : i % 251   ? rng_below(rng, 17)
                                      : rng_below(rng, 10 * most + 1);
    if (offsets[i] + length > MAX_KEYS_NBYTES)
      return i;
    offsets[i + 1] = offsets[i] + length;
  }
  return n;
}

/* Makes up to n fields of records in these bytes. The last field ends where the bytes end. The
 * records may all be the same one, overlap, be adjacent, or lie apart. */
static lanebloom_keys some_fields(struct rng *rng, const struct guarded *data, size_t n)
{
  const size_t usual = 4 + 4 * rng_below(rng, 8), any = rng_below(rng, 50);
  const size_t wanted = one_in(rng, 3) ? any : usual,
               width = wanted < data->nbytes ? wanted : data->nbytes;
  const size_t strides[] = {0, rng_below(rng, width + 1), width, width + some(rng, 300)};
  const size_t stride = strides[rng_below(rng, COUNT(strides))];
  if (n > 0 && stride > 0 && (n - 1) > (data->nbytes - width) / stride)
    n = (data->nbytes - width) / stride + 1;
  const uint8_t *end = data->bytes + data->nbytes;
  return lanebloom_keys_strided(n > 0 ? end - width - (n - 1) * stride : end, width, stride, n);
}

/* Makes views of these strings. A view itself holds a string of up to 12 bytes. The function does
 * not use the library's constants, so it shares none of their errors. */
static void make_views(const lanebloom_slice *slices, size_t n, uint8_t *views)
{
  for (uint8_t *view = views; view < views + 16 * n; view += 16, slices++) {
    const uint32_t size = (uint32_t)slices->size;
    memset(view, 0xee, 16);
    memcpy(view, &size, sizeof size);
    if (size <= 12)
      memcpy(view + 4, slices->data, size);
    else
      memcpy(view + 8, &slices->data, sizeof slices->data);
  }
}

/* Makes at most n keys of these bytes in this layout. */
static struct batch some_batch(struct rng *rng, const uint8_t *bytes, size_t n, unsigned layout)
{
  static uint64_t offsets64[MAX_NKEYS + 1];
  static uint32_t offsets32[MAX_NKEYS + 1];
  static lanebloom_slice slices[MAX_NKEYS];
  static uint8_t views[16 * MAX_NKEYS];
  n = some_offsets(rng, n, offsets64);
  struct batch batch = {.data = guarded_copy(bytes, offsets64[n], some_place(rng))};
  guarded_freeze(&batch.data);
  const uint8_t *data = batch.data.bytes;
  const size_t width = n > 0 ? offsets64[1] : 0;
  bool is_fixed = true;
  for (size_t i = 0; i < n; i++) {
    offsets32[i + 1] = (uint32_t)offsets64[i + 1];
    slices[i] = (lanebloom_slice){data + offsets64[i], offsets64[i + 1] - offsets64[i]};
    is_fixed = is_fixed && slices[i].size == width;
  }
  make_views(slices, n, views);

  const void *indices[NLAYOUTS] = {NULL, offsets32, offsets64, slices, NULL, views};
  const size_t nbytes[] = {
      0, (n + 1) * sizeof *offsets32, (n + 1) * sizeof *offsets64, n * sizeof *slices, 0, 16 * n};
  const size_t place = layout == KEYS_STRINGS ? some_place(rng)
                       : rng_below(rng, 2)    ? AT_END
                                              : AT_BEGIN;
  batch.index = guarded_copy(indices[layout], nbytes[layout], place);
  guarded_freeze(&batch.index);
  const void *index = batch.index.bytes;
  const size_t nnines = offsets64[n] / 9 < MAX_NKEYS ? offsets64[n] / 9 : MAX_NKEYS;
  batch.keys = layout == KEYS_OFFSETS32            ? lanebloom_keys_offsets32(data, index, n)
               : layout == KEYS_OFFSETS64          ? lanebloom_keys_offsets64(data, index, n)
               : layout == KEYS_FIXED && is_fixed  ? lanebloom_keys_fixed(data, width, n)
               : layout == KEYS_FIXED && !is_fixed ? lanebloom_keys_fixed(data, 9, nnines)
               : layout == KEYS_STRIDED            ? some_fields(rng, &batch.data, n)
               : layout == KEYS_STRINGS            ? lanebloom_keys_strings(index, n)
                                                   : lanebloom_keys_slices(index, n);
  if (layout == KEYS_FIXED || layout == KEYS_STRIDED)
    for (size_t i = 0; i < batch.keys.n; i++)
      slices[i] = (lanebloom_slice){(const uint8_t *)batch.keys.data + i * batch.keys.stride,
                                    batch.keys.width};
  batch.as_slices = lanebloom_keys_slices(slices, batch.keys.n);
  return batch;
}

static void batch_free(struct batch *batch)
{
  guarded_free(&batch->index);
  guarded_free(&batch->data);
}

/* ---- Filters ---- */

enum { MAX_PAYLOAD_NBYTES = 64 << 20, MAX_ROUNDING_NBYTES = 1 << 11, MAX_FRAME_NBYTES = 8 };

static lanebloom_format formats[MAX_FORMATS]; /* formats that build */
static size_t nformats;

/* Writes the header and trailer of a payload of random size. Returns the shape that the format's
 * reader finds. */
static struct filter_shape some_shape(struct rng *rng, const struct format_table *format,
                                      uint8_t *room)
{
  /* some writers use lines of other sizes */
  const bool other_lines = format->id == LANEBLOOM_ROCKSDB_LEGACY && one_in(rng, 3);
  const uint32_t line_nbytes =
      other_lines ? (uint32_t)1 << rng_below(rng, 12) : format->line_nbytes;
  const uint32_t usual_nprobes = format->min_nprobes + 11;
  const uint32_t max_nprobes =
      usual_nprobes < format->max_nprobes && !one_in(rng, 4) ? usual_nprobes : format->max_nprobes;
  const uint32_t nprobes =
      format->min_nprobes + (uint32_t)rng_below(rng, max_nprobes - format->min_nprobes + 1);
  const uint64_t nlines = (some(rng, MAX_PAYLOAD_NBYTES) + line_nbytes - 1) / line_nbytes;
  const struct filter_shape written =
      format->shape(format, nlines * line_nbytes, line_nbytes, nprobes);
  struct filter_shape read;
  if (format->write_frame)
    format->write_frame(format, &written, room);
  if (format->parse(format, room, format_nbytes(format, &written), &read, &no_problem) ||
      read.answer != ANSWER_BY_PROBES || read.nprobes != nprobes || read.nbytes != written.nbytes)
    test_fatal("a filter of %llu bytes does not open", (unsigned long long)written.nbytes);
  return read;
}

/* Sets no bits, about a quarter of them, half, three quarters, or all. */
static void fill(struct rng *rng, uint8_t *bytes, size_t nbytes)
{
  const uint64_t kind = rng_below(rng, 16);
  memset(bytes, kind == 0 ? 0xff : 0, nbytes);
  if (kind <= 1)
    return;
  rng_fill(rng, bytes, nbytes);
  for (size_t i = 0; kind < 8 && i + 8 <= nbytes; i += 8) {
    uint64_t eight;
    const uint64_t other = rng_next(rng);
    memcpy(&eight, bytes + i, sizeof eight);
    eight = kind < 6 ? eight & other : eight | other;
    memcpy(bytes + i, &eight, sizeof eight);
  }
}

/* ---- Trials ---- */

struct trial {
  struct rng rng;
  const struct format_table *format;
  struct filter_shape shape;
  struct guarded payload;
  struct batch batch;
};

static void probe_keys(const struct trial *trial, const struct operations *ops, uint8_t *bitmap)
{
  struct hash_source source;
  hash_source_of_keys(&source, &trial->batch.keys, ops->hash, HASH_NBYTES[trial->format->hash]);
  ops->probe(&trial->shape, trial->payload.bytes, &source, bitmap);
}

static void probe_hashes(const struct trial *trial, const struct operations *ops,
                         const void *hashes, uint8_t *bitmap)
{
  struct hash_source source;
  hash_source_of_hashes(&source, hashes, HASH_NBYTES[trial->format->hash], trial->batch.keys.n);
  ops->probe(&trial->shape, trial->payload.bytes, &source, bitmap);
}

/* Sorts the hashes and probes with them, if the kernel has such a function. */
static void check_sorted(struct trial *trial, const struct kernel_table *kernel, const void *hashes,
                         const uint8_t *bitmap)
{
  const size_t n = trial->batch.keys.n;
  const enum layout layout = trial->format->layout;
  sorted_probe_function *const probe = kernel->layout[layout].sorted_probe;
  struct sorted_hashes sorted;
  if (!probe)
    return;
  if (!lanebloom_hashes_sort(layout, hashes, n, &sorted))
    test_fatal("memory ran out");
  struct guarded hits = guarded_make((n + 7) / 8, some_place(&trial->rng));
  memset(hits.bytes, 0, (n + 7) / 8);
  probe(&trial->shape, trial->payload.bytes, &sorted, hits.bytes);
  test_same_bytes("bitmap of sorted hashes", hits.bytes, bitmap, (n + 7) / 8);
  guarded_free(&hits);
  lanebloom_sorted_free(&sorted);
}

static void add_keys(const struct trial *trial, const struct operations *ops, uint8_t *payload)
{
  struct hash_source source;
  hash_source_of_keys(&source, &trial->batch.keys, ops->hash, HASH_NBYTES[trial->format->hash]);
  ops->add(&trial->shape, payload, &source);
}

/* Adds some of the keys. The share of keys that are added changes from run to run. */
static void add_some(struct trial *trial, const struct operations *scalar, const uint8_t *hashes)
{
  const size_t n = trial->batch.keys.n, hash_nbytes = HASH_NBYTES[trial->format->hash];
  const uint64_t run = some(&trial->rng, MAX_NKEYS);
  const uint64_t percent[] = {rng_below(&trial->rng, 3) * 50, rng_below(&trial->rng, 101)};
  for (size_t i = 0; i < n; i++)
    if (rng_below(&trial->rng, 100) < percent[i / run % 2]) {
      struct hash_source source;
      hash_source_of_hashes(&source, hashes + i * hash_nbytes, hash_nbytes, 1);
      scalar->add(&trial->shape, trial->payload.bytes, &source);
    }
}

/* Compares a kernel's results with those of the scalar kernel. */
static void check(struct trial *trial, const struct operations *ops, const uint8_t *hashes,
                  const uint8_t *bitmap, const uint8_t *payload)
{
  const size_t n = trial->batch.keys.n, hashes_nbytes = n * HASH_NBYTES[trial->format->hash];
  struct guarded found = guarded_make(hashes_nbytes, some_place(&trial->rng));
  hash_keys(ops->hash, &trial->batch.keys, HASH_NBYTES[trial->format->hash], found.bytes);
  test_same_bytes("hashes", found.bytes, hashes, hashes_nbytes);
  guarded_freeze(&found);

  struct guarded hits = guarded_make((n + 7) / 8, some_place(&trial->rng));
  probe_hashes(trial, ops, found.bytes, hits.bytes);
  test_same_bytes("bitmap of hashes", hits.bytes, bitmap, (n + 7) / 8);
  probe_one_by_one(ops, &trial->shape, trial->payload.bytes, found.bytes,
                   HASH_NBYTES[trial->format->hash], n, hits.bytes);
  test_same_bytes("bits of single keys", hits.bytes, bitmap, (n + 7) / 8);
  guarded_free(&hits);
  guarded_free(&found);

  hits = guarded_make((n + 7) / 8, some_place(&trial->rng));
  probe_keys(trial, ops, hits.bytes);
  test_same_bytes("bitmap of keys", hits.bytes, bitmap, (n + 7) / 8);
  guarded_free(&hits);

  struct guarded added =
      guarded_copy(trial->payload.bytes, trial->shape.nbytes, some_place(&trial->rng));
  add_keys(trial, ops, added.bytes);
  test_same_bytes("payload with the keys", added.bytes, payload, trial->shape.nbytes);
  guarded_free(&added);
}

/* ---- The run ---- */

enum {
  MAX_KERNELS = 32,
  MIN_NTRIALS = 4 * NLAYOUTS /* covers each format in each layout */
};

static const struct kernel_table *kernels[MAX_KERNELS]; /* all but scalar */
static size_t nkernels;
static uint8_t *key_bytes, *room; /* the bytes of keys; the bytes of a filter */

static void find_kernels(void)
{
  for (size_t i = 0; i < lanebloom_kernel_count() && nkernels < MAX_KERNELS; i++) {
    if (lanebloom_kernel_use(lanebloom_kernel_at(i)) != LANEBLOOM_OK)
      test_fatal("kernel %s", lanebloom_kernel_at(i));
    if (lanebloom_kernels_current() != &lanebloom_kernels_scalar)
      kernels[nkernels++] = lanebloom_kernels_current();
  }
}

/* Runs a trial. Returns its number of keys. */
static size_t run_trial(uint64_t seed, uint64_t number)
{
  struct trial trial = {.rng = rng_start(number)};
  struct rng *rng = &trial.rng;
  trial.format = lanebloom_format_table(formats[number % nformats]);
  trial.shape = some_shape(rng, trial.format, room);
  trial.batch = some_batch(rng, key_bytes + rng_below(rng, MAX_KEYS_NBYTES),
                           one_in(rng, 2) ? some(rng, MAX_NKEYS) : rng_below(rng, MAX_NKEYS),
                           (unsigned)(number / nformats % NLAYOUTS));
  const size_t n = trial.batch.keys.n;
  const struct operations scalar = operations_of(&lanebloom_kernels_scalar, trial.format);
  char what[200];
  snprintf(
      what, sizeof what,
      "%s of %llu bytes in lines of %u, %u probes, %zu keys of layout %u; test_stress 1 %llu %llu",
      trial.format->name, (unsigned long long)trial.shape.nbytes, trial.shape.lines.nbytes,
      trial.shape.nprobes, n, trial.batch.keys.layout, (unsigned long long)seed,
      (unsigned long long)number);
  test_context("scalar: %s", what);

  uint8_t *hashes = test_alloc(n * HASH_NBYTES[trial.format->hash]),
          *bitmap = test_alloc((n + 7) / 8);
  scalar.hash(&trial.batch.as_slices, hashes);
  trial.payload = guarded_make(trial.shape.nbytes, some_place(rng));
  fill(rng, trial.payload.bytes, trial.shape.nbytes);
  add_some(&trial, &scalar, hashes);
  guarded_freeze(&trial.payload);
  probe_hashes(&trial, &scalar, hashes, bitmap);
  memcpy(room, trial.payload.bytes, trial.shape.nbytes);
  add_keys(&trial, &scalar, room);
  for (size_t i = 0; i < nkernels; i++) {
    test_context("%s: %s", kernels[i]->name, what);
    const struct operations ops = operations_of(kernels[i], trial.format);
    check(&trial, &ops, hashes, bitmap, room);
    check_sorted(&trial, kernels[i], hashes, bitmap);
  }
  free(bitmap);
  free(hashes);
  guarded_free(&trial.payload);
  batch_free(&trial.batch);
  return n;
}

/* Returns argument i of main, or `otherwise` if there are fewer. */
static uint64_t number_of(int argc, char **argv, int i, uint64_t otherwise)
{
  if (i >= argc)
    return otherwise;
  char *end;
  const uint64_t number = strtoull(argv[i], &end, 0);
  if (end == argv[i] || *end || argc > 4) {
    fprintf(stderr, "usage: test_stress [PAIRS [SEED [TRIAL]]]\n");
    exit(2);
  }
  return number;
}

int main(int argc, char **argv)
{
  const uint64_t asked = number_of(argc, argv, 1, 100000000);
  const uint64_t seed = number_of(argc, argv, 2, (uint64_t)time(NULL));
  const uint64_t first = number_of(argc, argv, 3, 1);
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
  setenv("LANEBLOOM_TEST_SEED", text, 1); /* rng_start reads it */
  struct rng rng = rng_start(0);
  find_kernels();
  nformats = test_formats_that_build(formats);
  room = test_alloc(MAX_PAYLOAD_NBYTES + MAX_ROUNDING_NBYTES + MAX_FRAME_NBYTES);
  key_bytes = test_alloc(2 * MAX_KEYS_NBYTES);
  rng_fill(&rng, key_bytes, 2 * MAX_KEYS_NBYTES);

  uint64_t npairs = 0, nfilters = 0;
  time_t told = time(NULL);
  while ((npairs < asked || (argc < 4 && nfilters < MIN_NTRIALS)) && nkernels > 0) {
    npairs += run_trial(seed, first + nfilters++);
    if (time(NULL) >= told + 5) {
      told = time(NULL);
      fprintf(stderr, "# %llu of %llu pairs, %llu filters\n", (unsigned long long)npairs,
              (unsigned long long)asked, (unsigned long long)nfilters);
    }
  }
  for (size_t i = 0; i < nkernels; i++)
    printf("ok - %s: %llu pairs, %llu filters, 0 differences\n", kernels[i]->name,
           (unsigned long long)npairs, (unsigned long long)nfilters);
  printf("ok - %zu kernels and scalar: %llu pairs, %llu filters, 0 differences\n1..%zu\n", nkernels,
         (unsigned long long)(nkernels * npairs), (unsigned long long)nfilters, nkernels + 1);
  return EXIT_SUCCESS;
}
