/* Compares answers with the real RocksDB, for any trailer.
 * SPDX-License-Identifier: MIT */
#include "rocksdb.h"

size_t check_answers(lanebloom_format format, const uint8_t *bytes, size_t size,
                     const struct key_set *set, size_t *nhits)
{
  uint8_t bitmap[(MAX_KEYS + 7) / 8];
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(format, bytes, size, NULL, &filter, NULL, 0) == LANEBLOOM_OK,
            "open");
  const size_t count = lanebloom_filter_screen(filter, &set->keys, bitmap);
  lanebloom_filter_free(filter);

  oracle_reader *reader = oracle_rocksdb_reader(bytes, size);
  size_t expected_count = 0;
  for (size_t i = 0; i < set->keys.n; i++) {
    const bool expected =
        oracle_rocksdb_may_match(reader, set->slices[i].data, set->slices[i].size);
    expected_count += expected;
    if ((bitmap[i / 8] >> i % 8 & 1) != expected)
      test_fatal("as %s, filter of %zu bytes, key %zu of %zu bytes: RocksDB answers %d",
                 lanebloom_format_name(format), size, i, set->slices[i].size, expected);
  }
  oracle_rocksdb_close(reader);
  if (count != expected_count)
    test_fatal("filter of %zu bytes: %zu of %zu keys pass, expected %zu", size, count, set->keys.n,
               expected_count);
  *nhits += count;
  return set->keys.n;
}

enum kind { CONSTANT, LEGACY, LOCAL, RIBBON };

static enum kind kind_of(const uint8_t *bytes, size_t size)
{
  const uint8_t *trailer = bytes + size - 5;
  if (size <= 5)
    return CONSTANT;
  if (trailer[0] == 0xfe)
    return trailer[2] < 2 && trailer[3] == 0 && trailer[4] == 0 ? CONSTANT : RIBBON;
  return trailer[0] == 0xff ? LOCAL : trailer[0] >= 1 && trailer[0] <= 127 ? LEGACY : CONSTANT;
}

static uint32_t line_count(const uint8_t *bytes, size_t size)
{
  return bytes[size - 4] | (uint32_t)bytes[size - 3] << 8 | (uint32_t)bytes[size - 2] << 16 |
         (uint32_t)bytes[size - 1] << 24;
}

/* Would RocksDB read outside these bytes? If so, it cannot be queried, and lanebloom lets every key
 * pass. */
static bool is_read_outside(const uint8_t *bytes, size_t size)
{
  if (kind_of(bytes, size) == LOCAL)
    return size - 5 < 64;
  return kind_of(bytes, size) == LEGACY && line_count(bytes, size) * (uint32_t)64 == size - 5 &&
         line_count(bytes, size) * (uint64_t)64 != size - 5;
}

struct tally {
  size_t nfilters, nrefused, noutside, nqueries, nhits;
};

/* Opens bytes as each of RocksDB's formats. The bytes end at an unmapped page. */
static void check_reader(const uint8_t *bytes, size_t size, const struct key_set *set,
                         struct tally *tally)
{
  static const lanebloom_format opened[] = {LANEBLOOM_ROCKSDB, LANEBLOOM_ROCKSDB_LEGACY,
                                            LANEBLOOM_ROCKSDB_LOCAL, LANEBLOOM_ROCKSDB_RIBBON};
  static const lanebloom_format format_of[] = {
      [LEGACY] = LANEBLOOM_ROCKSDB_LEGACY,
      [LOCAL] = LANEBLOOM_ROCKSDB_LOCAL,
      [RIBBON] = LANEBLOOM_ROCKSDB_RIBBON,
  };
  const enum kind kind = kind_of(bytes, size);
  struct guarded guarded = guarded_copy(bytes, size, AT_END);
  guarded_freeze(&guarded);
  for (size_t f = 0; f < COUNT(opened); f++) {
    lanebloom_filter *filter = NULL;
    if (kind != CONSTANT && opened[f] != LANEBLOOM_ROCKSDB && opened[f] != format_of[kind]) {
      if (lanebloom_filter_parse_raw(opened[f], guarded.bytes, size, NULL, &filter, NULL, 0) !=
              LANEBLOOM_ERR_FORMAT ||
          filter)
        test_fatal("opens as %s", lanebloom_format_name(opened[f]));
      tally->nrefused++;
    } else if (is_read_outside(bytes, size)) {
      cr_assert(lanebloom_filter_parse_raw(opened[f], guarded.bytes, size, NULL, &filter, NULL,
                                           0) == LANEBLOOM_OK,
                "open");
      if (lanebloom_filter_screen(filter, &set->keys, NULL) != set->keys.n)
        test_fatal("as %s not every key passes", lanebloom_format_name(opened[f]));
      lanebloom_filter_free(filter);
      tally->noutside++;
    } else {
      tally->nqueries += check_answers(opened[f], guarded.bytes, size, set, &tally->nhits);
      tally->nfilters++;
    }
  }
  guarded_free(&guarded);
}

/* Draws random bytes. In four of five calls, most of their bits are set. */
static void draw_payload(struct rng *rng, uint8_t *bytes, size_t size)
{
  rng_fill(rng, bytes, size);
  for (uint64_t i = rng_below(rng, 5); i > 0; i--)
    for (size_t at = 0; at < size; at++)
      bytes[at] |= (uint8_t)rng_next(rng);
}

static void put_trailer(uint8_t *at, uint8_t marker, uint32_t rest)
{
  at[0] = marker;
  for (size_t i = 0; i < 4; i++)
    at[1 + i] = (uint8_t)(rest >> 8 * i);
}

enum { MAX_PAYLOAD = 2048, NASKED = 40 };

/* Tries bytes that are too short for a trailer. Then tries every marker byte, before arbitrary
 * bytes and before usual ones. */
Test(oracle_rocksdb, reader_every_marker)
{
  static const uint32_t rests[] = {0,          0x00000600, 0x00000100, 0x00000200, 0x00010000,
                                   0x01000000, 1,          5,          17};
  struct rng rng = rng_start(20);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (size_t size = 0; size <= 5; size++)
    for (unsigned last = 0; last < 256; last++) {
      test_context("%zu bytes of %02x", size, last);
      memset(bytes, (int)last, sizeof bytes);
      key_set_draw(set, &rng, 3);
      check_reader(bytes, size, set, &tally);
    }
  cr_assert(tally.nhits == 0 && tally.nfilters == 4 * 6 * 256, "%zu of %zu hits", tally.nhits,
            tally.nqueries);

  for (unsigned marker = 0; marker < 256; marker++)
    for (size_t r = 0; r < 2 * COUNT(rests); r++) {
      const size_t payload = r % 3 == 0 ? 1 + rng_below(&rng, 200) : 64 * (1 + rng_below(&rng, 17));
      draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, (uint8_t)marker,
                  r < COUNT(rests) ? rests[r] : (uint32_t)rng_next(&rng));
      test_context("marker %02x, rest %zu, payload of %zu bytes", marker, r, payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 300000 && tally.nrefused > 2000, "%zu queries, %zu refused",
            tally.nqueries, tally.nrefused);
  key_set_free(set);
}

/* Tries every byte as the number of probes, with unusual bytes beside it. Payloads have whole
 * lines, whole lines and a part of one, or less than one line. */
Test(oracle_rocksdb, reader_local)
{
  static const uint32_t odd[] = {0,          0,          0,          0x00000001,
                                 0x000000ff, 0x00010000, 0x01000000, 0xff000000};
  struct rng rng = rng_start(21);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (uint32_t nprobes = 0; nprobes < 256; nprobes++)
    for (size_t o = 0; o < COUNT(odd); o++) {
      const size_t payload =
          o == 0 ? 64 * (1 + rng_below(&rng, 30)) : 1 + rng_below(&rng, o == 1 ? 63 : MAX_PAYLOAD);
      draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, 0xff, odd[o] | nprobes << 8);
      test_context("FastLocalBloom, probes %02x, odd %08x, payload of %zu bytes", nprobes, odd[o],
                   payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 130000 && tally.noutside >= 512, "%zu queries, %zu outside",
            tally.nqueries, tally.noutside);
  key_set_free(set);
}

/* Tries every number of probes with lines of every size, powers of two and others; with no lines;
 * and with more lines than there are bytes. */
Test(oracle_rocksdb, reader_legacy)
{
  enum { NKINDS = 16 };
  struct rng rng = rng_start(22);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (uint8_t nprobes = 1; nprobes <= 127; nprobes++)
    for (size_t k = 0; k < NKINDS; k++) {
      const size_t line =
          k < 10 ? (size_t)1 << k : 1 + rng_below(&rng, 200); /* 1 to 512, and any size */
      const size_t nlines = 1 + rng_below(&rng, MAX_PAYLOAD / line);
      const size_t rest = k == 14 ? 1 + rng_below(&rng, 7) : 0;
      const size_t payload =
          nlines * line + rest <= MAX_PAYLOAD ? nlines * line + rest : nlines * line;
      uint32_t written = (uint32_t)nlines;
      if (k == 11)
        written = 0;
      else if (k == 12)
        written = (uint32_t)rng_next(&rng);
      else if (k == 13)
        written = (uint32_t)payload / 64 + ((uint32_t)1 << 26); /* times 64, this wraps */
      draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, nprobes, written);
      test_context("legacy, %u probes, %u lines, payload of %zu bytes", nprobes, written, payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 150000 && tally.nhits > tally.nqueries / 4 &&
                tally.nhits < tally.nqueries * 3 / 4,
            "%zu of %zu queries hit: too uneven to tell much", tally.nhits, tally.nqueries);
  key_set_free(set);
}

/* Reads filters with every seed; with every number of columns, also more than a key can be compared
 * in; with no blocks, with one block, and with more blocks than segments; and with payloads that
 * end within a segment. If a payload has only zeros or only ones, some keys pass with any number of
 * columns. */
Test(oracle_rocksdb, reader_ribbon)
{
  enum { NKINDS = 12 };
  static const uint32_t odd[] = {0, 1, 2, 3, 127, 128, 255, 256, 65535, 0xffffff};
  struct rng rng = rng_start(24);
  struct key_set *set = key_set_make(&rng);
  struct tally tally = {0};
  uint8_t bytes[MAX_PAYLOAD + 5];
  for (unsigned seed = 0; seed < 256; seed++)
    for (size_t k = 0; k < NKINDS; k++) {
      const uint32_t nblocks = k < 8    ? 2 + (uint32_t)rng_below(&rng, k == 7 ? 3 : 40)
                               : k < 10 ? odd[seed % COUNT(odd)]
                                        : (uint32_t)rng_next(&rng) & 0xffffff;
      const uint64_t ncolumns = k < 6 ? 1 + k / 2 : 1 + rng_below(&rng, 40);
      const uint64_t wanted = 16 * nblocks * ncolumns + rng_below(&rng, 16);
      const size_t payload = k < 8 && wanted <= MAX_PAYLOAD
                                 ? (size_t)wanted
                                 : 1 + (size_t)rng_below(&rng, MAX_PAYLOAD);
      memset(bytes, seed % 2 ? 0xff : 0, payload);
      if (k > 1)
        draw_payload(&rng, bytes, payload);
      put_trailer(bytes + payload, 0xfe, seed | nblocks << 8);
      test_context("Ribbon, seed %u, %u blocks, payload of %zu bytes", seed, nblocks, payload);
      key_set_draw(set, &rng, NASKED);
      check_reader(bytes, payload + 5, set, &tally);
    }
  cr_assert(tally.nqueries > 200000 && tally.nhits > tally.nqueries / 4 &&
                tally.nhits < tally.nqueries * 3 / 4,
            "%zu of %zu queries hit: too uneven to tell much", tally.nhits, tally.nqueries);
  key_set_free(set);
}

/* Tries sizes up to the largest that RocksDB can hold in memory. Every second key has its bits set,
 * but one bit is missing for half of these keys. */
Test(oracle_rocksdb, reader_of_large_filters)
{
  enum { NKEYS = 200 };
  static const struct {
    lanebloom_format format;
    uint64_t payload;
    uint8_t marker;
    uint32_t rest;
  } rows[] = {
      {LANEBLOOM_ROCKSDB_LOCAL, 0x7fffffc0, 0xff, 0x0600},
      {LANEBLOOM_ROCKSDB_LOCAL, 0x80000000, 0xff, 0x0600},
      {LANEBLOOM_ROCKSDB_LOCAL, 0xffffffc0, 0xff, 0x1e00},
      {LANEBLOOM_ROCKSDB_LOCAL, 0xfffffffa, 0xff, 0x0600},
      {LANEBLOOM_ROCKSDB_LEGACY, 536862784, 6, 8388481},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xffffffc0, 30, 67108863},
      {LANEBLOOM_ROCKSDB_LEGACY, 0x80000040, 6, 33554433},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xffffff80, 6, 33554431},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xfffffff9, 6, 0xfffffff9},
      {LANEBLOOM_ROCKSDB_LEGACY, 0xf8000000, 30, 31},
  };
  struct rng rng = rng_start(23);
  struct key_set *set = key_set_make(&rng);
  for (size_t r = 0; r < COUNT(rows); r++) {
    test_context("row %zu: payload of %llu bytes", r, (unsigned long long)rows[r].payload);
    key_set_draw(set, &rng, NKEYS);
    struct guarded bytes = guarded_sparse(rows[r].payload + 5);
    put_trailer(bytes.bytes + rows[r].payload, rows[r].marker, rows[r].rest);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, NULL,
                                         &filter, NULL, 0) == LANEBLOOM_OK,
              "open");
    for (size_t i = 0; i < NKEYS; i += 2) {
      const lanebloom_keys key = lanebloom_keys_part(&set->keys, i, 1);
      uint64_t hash = 0, positions[128];
      cr_assert(lanebloom_hash(rows[r].format, &key, &hash) == LANEBLOOM_OK, "hash");
      const size_t n = lanebloom_filter_positions(filter, &hash, positions);
      cr_assert(n >= 6, "%zu positions", n);
      const size_t missing = i % 8 == 2   ? 0
                             : i % 8 == 6 ? n - 1
                                          : n; /* the first probe, the last, or none */
      for (size_t p = 0; p < n; p++)
        if (p != missing)
          bytes.bytes[positions[p] / 8] |= (uint8_t)(1 << positions[p] % 8);
    }
    lanebloom_filter_free(filter);
    size_t nhits = 0;
    check_answers(rows[r].format, bytes.bytes, bytes.nbytes, set, &nhits);
    check_answers(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, set, &nhits);
    cr_assert(nhits >= NKEYS / 2 && nhits < 2 * NKEYS, "%zu keys pass", nhits);
    guarded_free(&bytes);
  }
  key_set_free(set);
}

/* Bytes whose size does not fit 32 bits are refused. With one byte less they are read. */
Test(oracle_rocksdb, reader_of_2_to_32_bytes)
{
  struct guarded bytes = guarded_sparse((uint64_t)1 << 32);
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes, bytes.nbytes, NULL, &filter,
                                       NULL, 0) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB_LOCAL, bytes.bytes, bytes.nbytes, NULL,
                                       &filter, NULL, 0) == LANEBLOOM_ERR_LIMIT);
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB_LEGACY, bytes.bytes, bytes.nbytes, NULL,
                                       &filter, NULL, 0) == LANEBLOOM_ERR_LIMIT);
  cr_assert(!filter, "a filter after an error");
  cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB, bytes.bytes + 1, bytes.nbytes - 1, NULL,
                                       &filter, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_may_contain(filter, "key", 3),
            "a trailer of zeros lets every key pass");
  lanebloom_filter_free(filter);
  guarded_free(&bytes);
}

/* If lines have 2^28 bytes or more, RocksDB's arithmetic overflows. Here every key passes. */
Test(oracle_rocksdb, reader_of_too_large_lines)
{
  for (uint32_t nlines = 1; nlines < 16; nlines++) {
    const uint64_t payload = ((uint64_t)1 << 28) * nlines;
    struct guarded bytes = guarded_sparse(payload + 5);
    put_trailer(bytes.bytes + payload, 6, nlines);
    lanebloom_filter *filter;
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_ROCKSDB_LEGACY, bytes.bytes, bytes.nbytes, NULL,
                                         &filter, NULL, 0) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_may_contain(filter, "key", 3), "%u lines", nlines);
    lanebloom_filter_free(filter);
    guarded_free(&bytes);
  }
}
