/* MinLZ blocks of random elements, which a model decompresses byte by byte, and damaged blocks.
 * SPDX-License-Identifier: MIT */
#include "tables/pebble/minlz.h"

#include <criterion/criterion.h>
#include <string.h>

#include "support.h"

/* ---- Blocks of random elements, and their data ---- */

enum { DATA_NBYTES = 1 << 18, BLOCK_NBYTES = DATA_NBYTES * 2 };

struct made {
  struct rng rng;
  size_t nblock, ndata, offset;
  uint8_t block[BLOCK_NBYTES], data[DATA_NBYTES];
};

static void put(struct made *made, uint64_t number, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    made->block[made->nblock++] = (uint8_t)(number >> 8 * i);
}

/* The code of a length, and the bytes after it. */
struct length {
  uint32_t code, rest;
  size_t nrest, value;
};

/* Draws a length of a random encoding. Its code has nshort values for lengths from `shortest` on;
 * further codes stand for 1, 2, ... bytes after it, which have the length less `longer`. If there
 * is no room for the length, draws a short one. */
static struct length draw_length(struct made *made, uint32_t nshort, uint32_t shortest,
                                 uint32_t longer, size_t max_nrest)
{
  struct length length = {.nrest = (size_t)rng_below(&made->rng, 8)};
  if (length.nrest > 0 && length.nrest <= max_nrest) {
    length.code = nshort + (uint32_t)length.nrest - 1;
    length.rest = (uint32_t)rng_below(&made->rng, UINT64_C(1) << 8 * length.nrest);
    if (length.nrest == 3)
      length.rest %= DATA_NBYTES / 4;
    length.value = longer + length.rest;
    if (made->ndata + length.value + 100 < DATA_NBYTES)
      return length;
  }
  length.code = (uint32_t)rng_below(&made->rng, nshort);
  length.nrest = length.rest = 0;
  length.value = length.code + shortest;
  return length;
}

static void put_literals(struct made *made, size_t n)
{
  for (; n > 0; n--) {
    made->data[made->ndata] = (uint8_t)rng_next(&made->rng);
    put(made, made->data[made->ndata++], 1);
  }
}

static void copy(struct made *made, size_t n)
{
  for (; n > 0; n--, made->ndata++)
    made->data[made->ndata] = made->data[made->ndata - made->offset];
}

/* Draws an offset from `first` on that is at most `end` and whose bytes were written. Returns false
 * if there is none. */
static bool draw_offset(struct made *made, size_t nliterals, size_t first, size_t end)
{
  const size_t nwritten = made->ndata + nliterals, most = nwritten < end ? nwritten : end;
  if (most < first)
    return false;
  made->offset = first + (size_t)rng_below(&made->rng, most - first + 1);
  return true;
}

static void put_element(struct made *made)
{
  enum { LITERALS, REPEAT, NEAR_COPY, FAR_COPY, WITH_LITERALS, FARTHER, NKINDS };
  const uint64_t kind = rng_below(&made->rng, NKINDS);
  size_t nliterals = 0;
  struct length length;
  if (kind == LITERALS || (kind == REPEAT && made->offset <= made->ndata)) {
    length = draw_length(made, 29, 1, 30, 3);
    put(made, length.code << 3 | (kind == REPEAT ? 4 : 0), 1);
    put(made, length.rest, length.nrest);
    if (kind == LITERALS)
      put_literals(made, length.value);
    else
      copy(made, length.value);
    return;
  }
  if (kind == NEAR_COPY && draw_offset(made, 0, 1, 1024)) {
    length = draw_length(made, 15, 4, 18, 1);
    put(made, 1 | length.code << 2 | (made->offset - 1) << 6, 2);
  } else if (kind == FAR_COPY && draw_offset(made, 0, 64, 64 + 0xffff)) {
    length = draw_length(made, 61, 4, 64, 3);
    put(made, 2 | length.code << 2 | (made->offset - 64) << 8, 3);
  } else if (kind == WITH_LITERALS) {
    nliterals = 1 + (size_t)rng_below(&made->rng, 4);
    if (!draw_offset(made, nliterals, 64, 64 + 0xffff))
      return;
    length = (struct length){.value = 4 + (size_t)rng_below(&made->rng, 8)};
    put(made, 3 | (nliterals - 1) << 3 | (length.value - 4) << 5 | (made->offset - 64) << 8, 3);
  } else if (kind == FARTHER) {
    nliterals = (size_t)rng_below(&made->rng, 4);
    if (!draw_offset(made, nliterals, 1 << 16, (1 << 16) + 0x1fffff))
      return;
    length = draw_length(made, 61, 4, 64, 3);
    put(made, 7 | nliterals << 3 | length.code << 5 | (made->offset - (1 << 16)) << 11, 4);
  } else {
    return;
  }
  put(made, length.rest, length.nrest);
  put_literals(made, nliterals);
  copy(made, length.value);
}

/* Makes a block of about nbytes, and its data. */
static struct made *make(uint64_t stream, size_t nbytes)
{
  enum { SIZE_NBYTES = 3 };
  struct made *made = test_alloc(sizeof *made);
  made->rng = rng_start(stream);
  made->offset = 1;
  made->nblock = 1 + SIZE_NBYTES;
  while (made->ndata < nbytes)
    put_element(made);
  for (size_t i = 0; i < SIZE_NBYTES; i++)
    made->block[1 + i] = (uint8_t)(made->ndata >> 7 * i & 0x7f) | (i + 1 < SIZE_NBYTES ? 0x80 : 0);
  return made;
}

/* ---- Tests ---- */

static bool decompresses(const uint8_t *block, size_t nblock, struct guarded *data)
{
  struct guarded copied = guarded_copy(block, nblock, AT_END);
  guarded_freeze(&copied);
  const bool is_whole = lanebloom_minlz_decompress((lanebloom_slice){copied.bytes, nblock},
                                                   data->bytes, data->nbytes);
  guarded_free(&copied);
  return is_whole;
}

Test(minlz, random_elements)
{
  const size_t nblocks = test_exhaustive() ? 2000 : 100;
  for (size_t i = 0; i < nblocks; i++) {
    test_context("block %zu", i);
    struct made *made = make(i, i % 10 ? 1 + i * 7 : DATA_NBYTES / 8 * 7);
    size_t nbytes = 0;
    cr_assert(lanebloom_minlz_size((lanebloom_slice){made->block, made->nblock}, &nbytes));
    cr_assert(nbytes == made->ndata, "%zu bytes, expected %zu", nbytes, made->ndata);
    for (size_t place = AT_END; place <= AT_BEGIN; place++) {
      struct guarded data = guarded_make(made->ndata, place);
      cr_assert(decompresses(made->block, made->nblock, &data));
      test_same_bytes("data", data.bytes, made->data, made->ndata);
      guarded_free(&data);
    }
    free(made);
  }
}

/* A block that is cut off, or that has another size than its data, is refused. A block with other
 * bytes is refused or has other data, and nothing beside the data is written. */
Test(minlz, damage)
{
  const size_t nblocks = test_exhaustive() ? 400 : 40;
  for (size_t i = 0; i < nblocks; i++) {
    struct made *made = make(1000 + i, 50 + i * 20);
    struct guarded data = guarded_make(made->ndata, AT_END);
    for (size_t n = 0; n < made->nblock; n++) {
      test_context("block %zu, %zu bytes of %zu", i, n, made->nblock);
      cr_assert(!decompresses(made->block, n, &data));
    }
    test_context("block %zu", i);
    for (size_t at = 0; at < made->nblock; at++) {
      const uint8_t before = made->block[at];
      made->block[at] ^= (uint8_t)(1 + rng_below(&made->rng, 255));
      decompresses(made->block, made->nblock, &data);
      if (at == 0)
        cr_assert(!decompresses(made->block, made->nblock, &data));
      made->block[at] = before;
    }
    guarded_free(&data);
    data = guarded_make(made->ndata + 1, AT_END);
    cr_assert(!decompresses(made->block, made->nblock, &data));
    guarded_free(&data);
    made->block[1] ^= 1;
    size_t nbytes;
    cr_assert(lanebloom_minlz_size((lanebloom_slice){made->block, made->nblock}, &nbytes));
    data = guarded_make(nbytes, AT_END);
    cr_assert(!decompresses(made->block, made->nblock, &data));
    guarded_free(&data);
    free(made);
  }
}

Test(minlz, odd_blocks)
{
  static const struct {
    const char *block, *data; /* in hex; data NULL: refused */
  } cases[] = {
      {"00", "-"},                    /* no data */
      {"0000", "-"},                  /* no data */
      {"00006162", "6162"},           /* the rest is the data */
      {"0004006114", "61616161"},     /* a repeat before any copy has the offset 1 */
      {"00046c61", NULL},             /* a repeat of nothing */
      {"0005006101", NULL},           /* the element ends early */
      {"000500610100", "6161616161"}, /* a copy that overlaps itself */
      {"000500610110", NULL},         /* longer than the size */
      {"000500610140", NULL},         /* before the first byte */
      {"000600610100", NULL},         /* shorter than the size */
      {"010061", NULL},               /* does not begin with 0 */
      {"0081", NULL},                 /* the size does not end */
      {"00818080040061", NULL},       /* the size is 8 MiB and 1 */
      {"-", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_context("%s", cases[i].block);
    uint8_t block[16], expected[16];
    const size_t nblock = hex_decode(cases[i].block, block, sizeof block);
    const size_t nexpected =
        cases[i].data ? hex_decode(cases[i].data, expected, sizeof expected) : 0;
    size_t nbytes = 0;
    const bool has_size = lanebloom_minlz_size((lanebloom_slice){block, nblock}, &nbytes);
    cr_assert(has_size || !cases[i].data);
    cr_assert(nbytes == nexpected || !cases[i].data);
    struct guarded data = guarded_make(nbytes, AT_END);
    cr_assert(decompresses(block, nblock, &data) == (cases[i].data != NULL));
    if (cases[i].data)
      test_same_bytes("data", data.bytes, expected, nexpected);
    guarded_free(&data);
  }
}
