/* Fuzzes the parser of write batches with any bytes. The following must be true: in pieces of any
 * size, a batch has the same entries as in one piece.
 *
 *   flag and size of pieces, 1 byte: 128 if Pebble wrote the batch; the rest is the size, from 1
 *   | batch
 *
 * SPDX-License-Identifier: MIT */
#include "tables/batch.h"
#include "fuzz.h"

/* The number of entries, and a sum over all of them that depends on their order. */
struct entries {
  uint64_t n, sum;
};

static lanebloom_status take(void *context, const struct batch_entry *entry)
{
  struct entries *entries = context;
  uint64_t sum = entries->sum * 31 + entry->family;
  sum = sum * 31 + (uint64_t)(2 * entry->kind + entry->is_prepared);
  sum = sum * 31 + entry->key.size;
  for (size_t i = 0; i < entry->key.size; i++)
    sum = sum * 31 + ((const uint8_t *)entry->key.data)[i];
  *entries = (struct entries){entries->n + 1, sum};
  return LANEBLOOM_OK;
}

static bool parse(lanebloom_engine engine, const uint8_t *bytes, size_t size, size_t piece_nbytes,
                  struct entries *entries)
{
  struct batch_parser parser;
  *entries = (struct entries){0};
  lanebloom_batch_init(&parser, engine, take, entries);
  lanebloom_batch_begin(&parser);
  for (size_t at = 0; at < size; at += piece_nbytes) {
    const size_t nbytes = size - at < piece_nbytes ? size - at : piece_nbytes;
    uint8_t *piece = fuzz_alloc(nbytes); /* exact size, so sanitizers detect reads past it */
    memcpy(piece, bytes + at, nbytes);
    CHECK(lanebloom_batch_feed(&parser, piece, nbytes) == LANEBLOOM_OK);
    free(piece);
  }
  const bool is_whole = lanebloom_batch_end(&parser);
  CHECK(is_whole == !parser.problem);
  CHECK(!is_whole || entries->n <= size);
  lanebloom_batch_free(&parser);
  return is_whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  enum { PEBBLE = 128 };
  const uint8_t first = input_byte(&input);
  const lanebloom_engine engine =
      first & PEBBLE ? LANEBLOOM_ENGINE_PEBBLE : LANEBLOOM_ENGINE_ROCKSDB;
  const size_t piece_nbytes = 1 + (size_t)(first % PEBBLE);
  struct entries whole, pieces;
  const bool is_whole = parse(engine, input.at, input.left, input.left + 1, &whole);
  CHECK(parse(engine, input.at, input.left, piece_nbytes, &pieces) == is_whole);
  CHECK(whole.n == pieces.n && whole.sum == pieces.sum);
  return 0;
}
