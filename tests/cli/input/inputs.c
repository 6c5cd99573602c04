/* Inputs that are read a few bytes at a time: compressed data, and data that begins like it.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#ifdef LANEBLOOM_WITH_ZSTD
#include <zstd.h>
#endif

#include "input/inputs.h"
#include "support.h"

enum { MAX_NBYTES = 4096 };

/* ---- Reads ---- */

/* The first read returns at most first_nbytes, unless that is 0. Every other read returns at most
 * most_nbytes. */
static size_t first_nbytes, most_nbytes = SIZE_MAX;

ssize_t __real_read(int fd, void *to, size_t nbytes);
ssize_t __wrap_read(int fd, void *to, size_t nbytes);

ssize_t __wrap_read(int fd, void *to, size_t nbytes)
{
  const size_t most = first_nbytes > 0 ? first_nbytes : most_nbytes;
  first_nbytes = 0;
  return __real_read(fd, to, nbytes < most ? nbytes : most);
}

/* Reads an input. Returns its number of bytes, or -1 after an error. */
static long read_input(const struct record_syntax *syntax, const void *bytes, size_t nbytes,
                       char *found)
{
  static struct inputs inputs;
  struct chunk chunk;
  char path[32];
  long nfound = 0;
  const int fd = memfd_create("input", MFD_CLOEXEC);
  cr_assert(fd >= 0 && write(fd, bytes, nbytes) == (ssize_t)nbytes &&
            chunk_create(&chunk, READ_NBYTES));
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  inputs_begin(&inputs, &(struct input_messages){.verb = "test", .container_advice = "none"},
               syntax, (char *const[]){path}, 1, NULL);
  while (inputs_next(&inputs, &chunk)) {
    inputs_load(&inputs, &chunk);
    if (*chunk.error)
      nfound = -1;
    else if (nfound >= 0) {
      cr_assert(!syntax->width || chunk.nbytes / syntax->width <= READ_NBYTES);
      cr_assert((size_t)nfound + chunk.nbytes <= MAX_NBYTES);
      memcpy(found + nfound, chunk.data, chunk.nbytes);
      nfound += (long)chunk.nbytes;
    }
  }
  chunk_destroy(&chunk);
  close(fd);
  return nfound;
}

static void check(const struct record_syntax *syntax, const void *bytes, size_t nbytes,
                  const void *expected, long nexpected)
{
  char found[MAX_NBYTES];
  const long nfound = read_input(syntax, bytes, nbytes, found);
  if (nfound != nexpected)
    test_fatal("%ld bytes, expected %ld", nfound, nexpected);
  if (nfound > 0)
    test_same_bytes("records", found, expected, (size_t)nfound);
}

/* ---- Compressed ---- */

static size_t compress_gzip(const void *bytes, size_t nbytes, void *to)
{
  enum { GZIP = 16 }; /* added to the size of the window */
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes,
                     .avail_in = (uInt)nbytes,
                     .next_out = to,
                     .avail_out = MAX_NBYTES};
  cr_assert(deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  cr_assert(deflate(&stream, Z_FINISH) == Z_STREAM_END && deflateEnd(&stream) == Z_OK);
  return MAX_NBYTES - stream.avail_out;
}

static void check_compressed(const void *records, size_t nrecord_bytes, const void *bytes,
                             size_t nbytes)
{
  const struct record_syntax syntax = {.terminator = '\n'};
  for (size_t first = 0; first <= 12; first++)
    for (size_t most = 0; most <= 3; most++) {
      first_nbytes = first;
      most_nbytes = most > 0 ? most : SIZE_MAX;
      test_context("first read of %zu bytes, others of %zu", first, most);
      check(&syntax, bytes, nbytes, records, (long)nrecord_bytes);
    }
}

Test(inputs, compressed_in_pieces)
{
  uint8_t records[MAX_NBYTES / 2], compressed[MAX_NBYTES];
  struct rng rng = rng_start(0);
  rng_fill(&rng, records, sizeof records);
  records[sizeof records - 1] = '\n';
  const size_t nbytes = compress_gzip(records, sizeof records, compressed);
  check_compressed(records, sizeof records, compressed, nbytes);
#ifdef LANEBLOOM_WITH_ZSTD
  const size_t n = ZSTD_compress(compressed, sizeof compressed, records, sizeof records, 1);
  check_compressed(records, sizeof records, compressed, n);
#endif
}

/* ---- Inputs that begin like compressed data or like another kind of file ---- */

Test(inputs, chunks_have_no_more_records_than_fit)
{
  static const char bytes[200] = "\x28\xb5\x2f"; /* three of the four bytes that begin zstd data */
  const struct record_syntax syntax = {.width = 1, .decompress = DECOMPRESS_AUTO};
  for (size_t first = 1; first <= 3; first++) {
    first_nbytes = first;
    check(&syntax, bytes, sizeof bytes, bytes, sizeof bytes);
  }
}

/* If data begins like compressed data but ends too early to be sure, it is read as records. */
static void check_beginning(const char *magic, size_t n, size_t nmagic, bool is_compressed)
{
  for (size_t width = 1; width <= 4; width++) {
    const struct record_syntax syntax = {.width = width, .decompress = DECOMPRESS_AUTO};
    const bool is_refused = n % width || (is_compressed && n == nmagic);
    for (most_nbytes = 1; most_nbytes <= 3; most_nbytes++) {
      test_context("%zu of %zu bytes of 0x%02x..., width %zu, reads of %zu", n, nmagic,
                   (uint8_t)*magic, width, most_nbytes);
      check(&syntax, magic, n, magic, is_refused ? -1 : (long)n);
    }
  }
}

Test(inputs, fixed_width_may_begin_as_anything)
{
  static const struct {
    char magic[11];
    bool is_compressed;
  } kinds[] = {
      {"\x1f\x8b\x08", true}, {"\x28\xb5\x2f\xfd", true}, {"\x5f\x2a\x4d\x18", true},
      {"\x89LBF\r\n", false}, {"PAR1\x15", false},        {"\x04\x22\x4d\x18", false},
      {"\3757zXZ", false},    {"BZh91AY&SY", false},      {"\xff\xfe", false},
  };
  for (unsigned byte = 0; byte < 256; byte++)
    check_beginning((char[]){(char)byte}, 1, 1, false);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t n = 1; n <= strlen(kinds[i].magic); n++)
      check_beginning(kinds[i].magic, n, strlen(kinds[i].magic), kinds[i].is_compressed);
}
