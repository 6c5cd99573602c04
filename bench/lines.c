/* Times screening of the lines of a file, as the peers of bench/dcso.sh do: lines FORMAT FILTER
 * KEYS. FILTER is an engine's bare bytes. Prints the nanoseconds per line, the best of the rounds
 * of two seconds.
 * SPDX-License-Identifier: MIT */
#include <lanebloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(bool holds, const char *what)
{
  if (holds)
    return;
  fprintf(stderr, "lines: %s\n", what);
  exit(1);
}

static double now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Reads a file, and the offsets of its lines. The line ends are left out of the text. */
static lanebloom_keys read_lines(const char *path)
{
  FILE *file = fopen(path, "rb");
  check(file && fseek(file, 0, SEEK_END) == 0, path);
  const size_t nbytes = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(nbytes + 1);
  uint64_t *offsets = malloc((nbytes + 1) * sizeof *offsets);
  check(text && offsets && fread(text, 1, nbytes, file) == nbytes, path);
  fclose(file);
  size_t n = 0, end = 0;
  offsets[0] = 0;
  for (size_t i = 0; i < nbytes; i++)
    if (text[i] == '\n')
      offsets[++n] = end;
    else
      text[end++] = text[i];
  return lanebloom_keys_offsets64(text, offsets, n);
}

int main(int argc, char **argv)
{
  lanebloom_format format = LANEBLOOM_DCSO;
  lanebloom_filter *filter;
  char problem[256];
  check(argc == 4 && lanebloom_format_by_name(argv[1], &format), "FORMAT FILTER KEYS");
  check(lanebloom_filter_load_raw(format, argv[2], NULL, &filter, problem, sizeof problem) ==
            LANEBLOOM_OK,
        problem);
  const lanebloom_keys keys = read_lines(argv[3]);
  uint8_t *bitmap = malloc(keys.n / 8 + 1);
  check(bitmap && keys.n > 0, "no keys");
  double best = 1e18;
  for (const double begin = now_ns(); now_ns() - begin < 2e9;) {
    const double first = now_ns();
    lanebloom_filter_screen(filter, &keys, bitmap);
    const double took = now_ns() - first;
    best = took < best ? took : best;
  }
  printf("%.2f\n", best / (double)keys.n);
  return 0;
}
