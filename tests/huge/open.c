/* Filters of 2^29 bytes and more, opened from memory and as files: every kernel gives the right
 * answers.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/bytes.h"
#include "filter.h"
#include "huge.h"

/* A filter that has hardly any bits set. It is in memory that ends at an unmapped page, and also in
 * a container file with holes. */
struct sparse {
  lanebloom_format format;
  uint64_t nbytes; /* the size of the payload */
  uint32_t nlines; /* only in rocksdb-legacy */
  struct guarded memory;
  int file;
  char path[32];
  uint64_t nset; /* number of set bits */
};

static void put_byte(struct sparse *sparse, uint64_t at, uint8_t byte)
{
  sparse->memory.bytes[at] = byte;
  cr_assert(pwrite(sparse->file, &byte, 1, (off_t)(CONTAINER_HEADER_NBYTES + at)) == 1, "%s",
            strerror(errno));
}

static bool has_bit(const struct sparse *sparse, uint64_t position)
{
  return sparse->memory.bytes[position / 8] >> position % 8 & 1;
}

static void put_bit(struct sparse *sparse, uint64_t position)
{
  sparse->nset += !has_bit(sparse, position);
  put_byte(sparse, position / 8, sparse->memory.bytes[position / 8] | (uint8_t)(1 << position % 8));
}

/* Makes a filter with NPROBES probes. line_nbytes matters only for rocksdb-legacy. */
static struct sparse make_sparse(lanebloom_format format, uint64_t nbytes, uint64_t line_nbytes)
{
  struct sparse made = {.format = format, .nbytes = nbytes};
  uint8_t trailer[5] = {NPROBES};
  size_t ntrailer = 5;
  if (format == LANEBLOOM_ROCKSDB_LOCAL) {
    memcpy(trailer, "\xff\0\0\0", 5);
    trailer[2] = NPROBES;
  } else if (format == LANEBLOOM_ROCKSDB_LEGACY) {
    made.nlines = (uint32_t)(nbytes / line_nbytes);
    store_le32(trailer + 1, made.nlines);
  } else {
    ntrailer = 1;
  }
  made.memory = guarded_sparse(nbytes + ntrailer);
  made.file = make_container(made.path, format, nbytes + ntrailer, nbytes + ntrailer);
  for (size_t i = 0; i < ntrailer; i++)
    put_byte(&made, nbytes + i, trailer[i]);
  return made;
}

static uint64_t sparse_position(const struct sparse *sparse, const uint8_t *hash, unsigned i)
{
  uint32_t narrow;
  uint64_t wide;
  memcpy(&narrow, hash, sizeof narrow);
  if (sparse->format == LANEBLOOM_ROCKSDB_LEGACY)
    return model_legacy_position(narrow, i, sparse->nbytes, sparse->nlines);
  if (sparse->format != LANEBLOOM_ROCKSDB_LOCAL)
    return model_position(narrow, i, sparse->nbytes);
  memcpy(&wide, hash, sizeof wide);
  return model_local_position(wide, i, sparse->nbytes);
}

/* The hashes of NNUMBERS keys, and NAIMED hashes whose first probe is near the last bit that probes
 * can reach. */
enum { NNUMBERS = 280, NAIMED = 20, NHASHES = NNUMBERS + NAIMED };

struct questions {
  uint64_t numbers[NNUMBERS];
  uint8_t hashes[8 * NHASHES];
  size_t hash_nbytes;
  uint8_t expected[(NHASHES + 7) / 8];
  size_t count;
};

static void aim(const struct sparse *sparse, struct rng *rng, size_t i, uint8_t *hash)
{
  const uint64_t nbits = sparse->nbytes < TWO_TO_29 ? sparse->nbytes * 8 : (uint64_t)1 << 32;
  uint32_t low = (uint32_t)(nbits - 1 - i);
  if (sparse->format == LANEBLOOM_ROCKSDB_LOCAL)
    low = UINT32_MAX - (uint32_t)i;
  else if (sparse->format == LANEBLOOM_ROCKSDB_LEGACY) /* aims at the last line */
    low =
        sparse->nlines - 1 + (uint32_t)rng_below(rng, UINT32_MAX / sparse->nlines) * sparse->nlines;
  const uint64_t whole = rng_next(rng) << 32 | low;
  if (sparse->format == LANEBLOOM_ROCKSDB_LOCAL)
    memcpy(hash, &whole, sizeof whole);
  else
    memcpy(hash, &low, sizeof low);
}

static const uint8_t *asked_hash(const struct questions *asked, size_t i)
{
  return asked->hashes + i * asked->hash_nbytes;
}

/* Sets the bits of every second hash. For some of these hashes, one bit stays clear. */
static struct questions make_questions(struct sparse *sparse)
{
  struct questions asked = {.hash_nbytes = lanebloom_format_hash_size(sparse->format)};
  struct rng rng = rng_start(sparse->nbytes);
  rng_fill(&rng, asked.numbers, sizeof asked.numbers);
  const lanebloom_keys batch = lanebloom_keys_fixed(asked.numbers, sizeof *asked.numbers, NNUMBERS);
  cr_assert(lanebloom_hash(sparse->format, &batch, asked.hashes) == LANEBLOOM_OK, "hash");
  for (size_t i = 0; i < NAIMED; i++)
    aim(sparse, &rng, i, asked.hashes + (NNUMBERS + i) * asked.hash_nbytes);

  for (size_t i = 0; i < NHASHES; i += 2) {
    const unsigned missing = i % 3 == 0 ? (unsigned)rng_below(&rng, NPROBES) : NPROBES;
    for (unsigned p = 0; p < NPROBES; p++)
      if (p != missing)
        put_bit(sparse, sparse_position(sparse, asked_hash(&asked, i), p));
  }
  for (size_t i = 0; i < NHASHES; i++) {
    bool hit = true;
    for (unsigned p = 0; p < NPROBES; p++)
      hit &= has_bit(sparse, sparse_position(sparse, asked_hash(&asked, i), p));
    asked.expected[i / 8] |= (uint8_t)(hit << i % 8);
    asked.count += hit;
  }
  cr_assert(asked.count > NHASHES / 4 && asked.count <= NHASHES / 2 + NAIMED,
            "%zu of %d pass: too uneven to tell much", asked.count, NHASHES);
  return asked;
}

/* Checks the answers of every kernel, and of every path through the library. */
static void check_answers(const struct sparse *sparse, const struct questions *asked,
                          const lanebloom_filter *filter)
{
  uint8_t bitmap[(NHASHES + 7) / 8];
  size_t size;
  lanebloom_filter_bytes(filter, &size);
  if (size != sparse->memory.nbytes)
    test_fatal("%zu bytes", size);
  const lanebloom_keys batch =
      lanebloom_keys_fixed(asked->numbers, sizeof *asked->numbers, NNUMBERS);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_at(k)) == LANEBLOOM_OK, "kernel %zu", k);
    if (lanebloom_filter_screen_hashes(filter, asked->hashes, NHASHES, bitmap) != asked->count)
      test_fatal("%s: not %zu", lanebloom_kernel_at(k), asked->count);
    test_same_bytes(lanebloom_kernel_at(k), bitmap, asked->expected, sizeof bitmap);
    lanebloom_filter_screen(filter, &batch, bitmap);
    test_same_bytes(lanebloom_kernel_at(k), bitmap, asked->expected, NNUMBERS / 8);
  }
  for (size_t i = 0; i < NHASHES; i++) {
    uint64_t positions[NPROBES];
    cr_assert(lanebloom_filter_positions(filter, asked_hash(asked, i), positions) == NPROBES,
              "positions");
    for (unsigned p = 0; p < NPROBES; p++)
      if (positions[p] != sparse_position(sparse, asked_hash(asked, i), p))
        test_fatal("hash %zu, probe %u: position %llu", i, p, (unsigned long long)positions[p]);
  }
}

/* nbits: the number of bits that probes can reach. */
static void check_opened(lanebloom_format format, uint64_t nbytes, uint64_t line_nbytes,
                         uint64_t nbits)
{
  test_context("%s, payload of %llu bytes", lanebloom_format_name(format),
               (unsigned long long)nbytes);
  struct sparse sparse = make_sparse(format, nbytes, line_nbytes);
  const struct questions asked = make_questions(&sparse);
  if (sparse.memory.nbytes == nbytes + 1 && nbytes > TWO_TO_29)
    put_byte(&sparse, nbytes - 1, 0xff); /* no probe reaches these bits beyond 2^32 */
  guarded_freeze(&sparse.memory);

  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, sparse.memory.bytes, sparse.memory.nbytes, NULL,
                                       &filter, NULL, 0) == LANEBLOOM_OK,
            "open");
  check_answers(&sparse, &asked, filter);
  if (filter->shape.nbits != nbits)
    test_fatal("%llu bits", (unsigned long long)filter->shape.nbits);
  if (nbytes == TWO_TO_29 + 1 || nbytes == TWO_TO_29 - 64) { /* others would take long */
    lanebloom_filter_info info;
    lanebloom_filter_describe(filter, &info, sizeof info);
    if (info.nbits != nbits || info.nbits_set != sparse.nset)
      test_fatal("info: %llu bits, %llu set", (unsigned long long)info.nbits,
                 (unsigned long long)info.nbits_set);
  }
  lanebloom_filter_free(filter);
  cr_assert(lanebloom_filter_map(sparse.path, &filter, NULL, 0) == LANEBLOOM_OK, "map");
  check_answers(&sparse, &asked, filter);
  lanebloom_filter_free(filter);

  close(sparse.file);
  guarded_free(&sparse.memory);
}

Test(huge, open_leveldb)
{
  const uint64_t most = 8 * TWO_TO_29;
  check_opened(LANEBLOOM_LEVELDB, TWO_TO_29 - 1, 0, most - 8);
  check_opened(LANEBLOOM_LEVELDB, TWO_TO_29, 0, most);
  check_opened(LANEBLOOM_LEVELDB, TWO_TO_29 + 1, 0, most);
  check_opened(LANEBLOOM_LEVELDB_SIGNED, 4 * GIB - 1, 0, most);
  check_opened(LANEBLOOM_LEVELDB, 4 * GIB, 0, most);
  /* neither the number of bytes nor the number of bits fits 32 bits */
  check_opened(LANEBLOOM_LEVELDB, 4 * GIB + 100, 0, most);
  check_opened(LANEBLOOM_LEVELDB, 5 * GIB, 0, most);
}

static void check_whole(lanebloom_format format, uint64_t nbytes, uint64_t line_nbytes)
{
  check_opened(format, nbytes, line_nbytes, 8 * nbytes);
}

Test(huge, open_rocksdb)
{
  check_whole(LANEBLOOM_ROCKSDB_LOCAL, TWO_TO_29 - 64, 0);
  check_whole(LANEBLOOM_ROCKSDB_LOCAL, TWO_TO_29, 0);
  check_whole(LANEBLOOM_ROCKSDB_LOCAL, TWO_TO_29 + 64, 0);
  check_opened(LANEBLOOM_ROCKSDB_LOCAL, 4 * GIB - 6, 0,
               8 * (4 * GIB - 64)); /* the largest; its last 58 bytes are no whole line */
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, TWO_TO_29 - 64, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, TWO_TO_29, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, TWO_TO_29 + 64, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, 4 * GIB - 64, 64);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, 4 * GIB - 128, 128);
  check_whole(LANEBLOOM_ROCKSDB_LEGACY, 3 * GIB,
              (uint64_t)1 << 27); /* the largest lines that a filter can have */
}
