/* Functions that fuzz targets share: a cursor over the input, batches of keys that are made from
 * the input, and checks. A target is one function, LLVMFuzzerTestOneInput(). libFuzzer calls it
 * with bytes that it generates; replay.c calls it with the bytes of a file. The head of each target
 * shows the form of its input: fields with their sizes, separated by |.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FUZZ_H
#define LANEBLOOM_FUZZ_H

#include <lanebloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Like assert(), but in every build. */
#define CHECK(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))

static inline _Noreturn void fuzz_fail(const char *file, int line, const char *condition)
{
  dprintf(STDERR_FILENO, "%s:%d: expected %s (kernel %s)\n", file, line, condition,
          lanebloom_kernel_active());
  abort();
}

static inline void *fuzz_alloc(size_t nbytes)
{
  void *memory = malloc(nbytes ? nbytes : 1);
  if (!memory)
    abort();
  return memory;
}

/* ---- The input, read in order; past its end, numbers are 0 and slices are empty ---- */

struct fuzz_input {
  const uint8_t *at;
  size_t left;
};

static inline lanebloom_slice input_bytes(struct fuzz_input *input, size_t nbytes)
{
  const lanebloom_slice taken = {input->at, nbytes < input->left ? nbytes : input->left};
  input->at += taken.size;
  input->left -= taken.size;
  return taken;
}

/* Reads the next nbytes as a little-endian number. */
static inline uint64_t input_number(struct fuzz_input *input, size_t nbytes)
{
  const lanebloom_slice digits = input_bytes(input, nbytes);
  uint64_t number = 0;
  for (size_t i = digits.size; i-- > 0;)
    number = number << 8 | ((const uint8_t *)digits.data)[i];
  return number;
}

static inline uint8_t input_byte(struct fuzz_input *input)
{
  return (uint8_t)input_number(input, 1);
}

/* Reads the next slice: a length in 1 byte, then so many bytes. */
static inline lanebloom_slice input_short(struct fuzz_input *input)
{
  return input_bytes(input, input_byte(input));
}

/* ---- Keys ---- */

enum { FUZZ_MAX_NKEYS = 1100 }; /* more keys than any block but LevelDB's, which has 2048 */

/* Reads the next batch of keys. The input has the number of keys in 1 byte, the number of different
 * keys, less 1, in 1 byte, and then the different keys. These are repeated to fill the batch. A
 * number of keys of 192 or more stands for one of the 64 largest batches. So most batches are small
 * and fast. */
static inline lanebloom_keys input_keys(struct fuzz_input *input,
                                        lanebloom_slice slices[FUZZ_MAX_NKEYS])
{
  const size_t number = input_byte(input),
               n = number < 192 ? number : FUZZ_MAX_NKEYS - (255 - number);
  const size_t ndifferent = 1 + (size_t)input_byte(input);
  for (size_t i = 0; i < n; i++)
    slices[i] = i < ndifferent ? input_short(input) : slices[i - ndifferent];
  return lanebloom_keys_slices(slices, n);
}

/* ---- Answers ---- */

enum { FUZZ_BITMAP_NBYTES = (FUZZ_MAX_NKEYS + 7) / 8 };

static inline bool bit(const uint8_t *bitmap, size_t i)
{
  return bitmap[i / 8] >> i % 8 & 1;
}

/* Checks that `count` of a bitmap's first n bits are set, and that no bit after them in the last
 * byte is set. */
static inline void check_bitmap(const uint8_t *bitmap, size_t n, size_t count)
{
  size_t nset = 0;
  for (size_t i = 0; i < n; i++)
    nset += bit(bitmap, i);
  CHECK(nset == count);
  CHECK(n % 8 == 0 || bitmap[n / 8] >> n % 8 == 0);
}

#endif
