/* Fuzzes the decoders of gzip and zstd with any bytes. The following must be true: unless there is
 * an error, decompressing the bytes in pieces of any size gives the same result as in one piece.
 * For gzip, the result is also the same as zlib's.
 *
 *   codec, 1 byte: 0 gzip, else zstd | how many bytes are given at once, less 1, 1 byte
 *   how much room there is for them, less 1, 2 bytes | bytes
 *
 * SPDX-License-Identifier: MIT */
#ifdef LANEBLOOM_WITH_ZLIB
#include <zlib.h>
#endif

#include "fuzz.h"
#include "input/codecs.h"

enum { MAX_NBYTES = 1 << 20 };

/* The result of decompressing. At most MAX_NBYTES are stored and compared. */
struct result {
  enum { DONE, REFUSED, TOO_LONG } end;
  size_t nbytes;
  char bytes[MAX_NBYTES];
};

static void refuse(struct result *result, const struct codec_error *error)
{
  CHECK(*error->text && !error->is_out_of_memory);
  result->end = REFUSED;
}

/* Decompresses the data. Gives the decoder at most most_in bytes of data, and room for at most
 * most_out bytes, in one call. */
static void run(enum codec codec, lanebloom_slice data, size_t most_in, size_t most_out,
                struct result *result)
{
  struct codec_error error = {0};
  struct decoder *decoder = decoder_create(codec);
  const char *at = data.data, *end = at + data.size;
  CHECK(decoder);
  *result = (struct result){.end = DONE};
  for (bool was_full = false; result->end == DONE && (at < end || was_full);) {
    const size_t nleft = (size_t)(end - at), room = MAX_NBYTES - result->nbytes;
    char *in = fuzz_alloc(nleft < most_in ? nleft : most_in); /* exact, to detect reads past it */
    const size_t nin = nleft < most_in ? nleft : most_in, nout = room < most_out ? room : most_out;
    struct codec_step step = {.in = memcpy(in, at, nin), .nin = nin, .nout = nout};
    step.out = fuzz_alloc(nout);
    char *out = step.out;
    if (!decoder_run(decoder, &step, &error)) {
      refuse(result, &error);
    } else {
      CHECK(step.in + step.nin == in + nin && step.out + step.nout == out + nout);
      CHECK(step.nin == 0 || step.nout == 0);
      memcpy(result->bytes + result->nbytes, out, nout - step.nout);
      result->nbytes += nout - step.nout;
      at += nin - step.nin;
      was_full = step.nout == 0;
      result->end = result->nbytes == MAX_NBYTES ? TOO_LONG : DONE;
    }
    free(in);
    free(out);
  }
  if (result->end == DONE && !decoder_end(decoder, &error))
    refuse(result, &error);
  decoder_destroy(decoder);
}

#ifdef LANEBLOOM_WITH_ZLIB
/* Decompresses the members of a gzip file one after the other, and ignores zeros after the last
 * one. */
static void run_zlib(lanebloom_slice data, struct result *result)
{
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)data.data, .avail_in = (uInt)data.size};
  CHECK(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK);
  *result = (struct result){.end = DONE};
  while (result->end == DONE && stream.avail_in > 0 && *stream.next_in) {
    inflateReset(&stream);
    stream.next_out = (Bytef *)result->bytes + result->nbytes;
    stream.avail_out = (uInt)(MAX_NBYTES - result->nbytes);
    if (inflate(&stream, Z_FINISH) != Z_STREAM_END)
      result->end = stream.avail_out == 0 ? TOO_LONG : REFUSED;
    result->nbytes = MAX_NBYTES - stream.avail_out;
  }
  inflateEnd(&stream);
}
#endif

static void check_same(const struct result *one, const struct result *other)
{
  if (one->end == DONE && other->end == DONE)
    CHECK(one->nbytes == other->nbytes && memcmp(one->bytes, other->bytes, one->nbytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static struct result whole, pieces;
  struct fuzz_input input = {bytes, size};
  const enum codec codec = input_byte(&input) ? CODEC_ZSTD : CODEC_GZIP;
  const size_t most_in = 1 + (size_t)input_byte(&input);
  const size_t most_out = 1 + (size_t)input_number(&input, 2);
  const lanebloom_slice data = input_bytes(&input, input.left);
  if (!codec_is_built(codec))
    return 0;
  run(codec, data, SIZE_MAX, SIZE_MAX, &whole);
  run(codec, data, most_in, most_out, &pieces);
  check_same(&whole, &pieces);
  if (codec == CODEC_ZSTD) /* data in one piece need no window, so libzstd then accepts frames that
                            * ask for a larger one */
    return 0;
  CHECK(whole.end == pieces.end);
#ifdef LANEBLOOM_WITH_ZLIB
  run_zlib(data, &pieces);
  check_same(&whole, &pieces);
#endif
  return 0;
}
