/* Makes sets of keys of many sizes (see texts.h).
 * SPDX-License-Identifier: MIT */
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared.h"

static const struct {
  const char *name;
  size_t min_nbytes, max_nbytes;
} kinds[BENCH_NTEXTS] = {
    [BENCH_WORDS] = {"words", 3, 30},
    [BENCH_5_TO_30_BYTES] = {"lengths:5-30", 5, 30},
    [BENCH_0_TO_100_BYTES] = {"lengths:0-100", 0, 100},
    [BENCH_17_TO_240_BYTES] = {"lengths:17-240", 17, 240},
    [BENCH_129_TO_240_BYTES] = {"lengths:129-240", 129, 240},
};

struct sink {
  struct bench_texts *texts;
  uint8_t *bytes;
};

static void add_key(struct sink *sink, const void *key, size_t nbytes)
{
  struct bench_texts *texts = sink->texts;
  memcpy(sink->bytes + texts->offsets[texts->n], key, nbytes);
  texts->offsets[texts->n + 1] = texts->offsets[texts->n] + (uint32_t)nbytes;
  texts->n++;
}

/* Adds words of the right sizes from a dictionary. Takes every seventh line in each pass, so that
 * the words come from all parts of the dictionary. */
static void read_words(struct sink *sink, FILE *dictionary)
{
  char line[256];
  for (size_t pass = 0, stride = 7; pass < stride && sink->texts->n < BENCH_TEXT_NKEYS; pass++) {
    rewind(dictionary);
    for (size_t i = 0; sink->texts->n < BENCH_TEXT_NKEYS && fgets(line, sizeof line, dictionary);
         i++) {
      const size_t nbytes = strcspn(line, "\n");
      if (i % stride == pass && nbytes >= kinds[BENCH_WORDS].min_nbytes &&
          nbytes <= kinds[BENCH_WORDS].max_nbytes)
        add_key(sink, line, nbytes);
    }
  }
}

/* Returns a random size with about the frequencies of the sizes of English words: 3 to 17 letters,
 * most often 9, with a mean of 9.3. */
static size_t invented_word_nbytes(uint64_t random)
{
  static const uint8_t nbytes[64] = {
      3,  3,  4,  4,  4,  5,  5,  5,  6,  6,  6,  6,  7,  7,  7,  7,  7,  7,  8,  8,  8,  8,
      8,  8,  8,  8,  9,  9,  9,  9,  9,  9,  9,  9,  9,  10, 10, 10, 10, 10, 10, 10, 10, 11,
      11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 15, 15, 16, 17};
  return nbytes[random % 64];
}

static void invent_keys(struct sink *sink, enum bench_text which)
{
  const size_t min = kinds[which].min_nbytes, max = kinds[which].max_nbytes;
  while (sink->texts->n < BENCH_TEXT_NKEYS) {
    uint8_t key[256];
    const uint64_t seed = sink->texts->n * 128, random = bench_key(seed);
    const size_t nbytes =
        which == BENCH_WORDS ? invented_word_nbytes(random) : min + random % (max - min + 1);
    for (size_t i = 0; i < nbytes; i++)
      key[i] = (uint8_t)('a' + bench_key(seed + i + 1) % 26);
    add_key(sink, key, nbytes);
  }
}

const char *bench_text_name(enum bench_text which)
{
  return kinds[which].name;
}

const struct bench_texts *bench_texts(enum bench_text which)
{
  static const char path[] = "/usr/share/dict/words";
  static struct bench_texts all[BENCH_NTEXTS];
  struct bench_texts *texts = &all[which];
  if (texts->n > 0)
    return texts;
  uint8_t *bytes = malloc((size_t)BENCH_TEXT_NKEYS * kinds[which].max_nbytes);
  if (!bytes)
    bench_check(LANEBLOOM_ERR_MEMORY);
  struct sink sink = {texts, bytes};
  texts->bytes = bytes;
  texts->name = kinds[which].name;
  texts->source = "invented";
  FILE *dictionary = which == BENCH_WORDS ? fopen(path, "r") : NULL;
  if (dictionary) {
    read_words(&sink, dictionary);
    fclose(dictionary);
    texts->source = path;
  }
  if (texts->n == 0)
    invent_keys(&sink, which);
  return texts;
}
