/* Measures the false-positive rate of a filter with random hashes.
 * SPDX-License-Identifier: MIT */
#include "measure.h"

#include <math.h>

/* Returns the next random number (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom
 * number generators, OOPSLA 2014). */
static uint64_t splitmix64(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint64_t count_random_hits(const lanebloom_filter *filter, size_t hash_nbytes,
                                  uint64_t nhashes)
{
  enum { BATCH_NWORDS = 4096 };
  static uint64_t words[BATCH_NWORDS]; /* every byte is random, so these bytes can serve as hashes
                                        * of any size */
  const size_t max_nhashes = sizeof words / hash_nbytes;
  uint64_t state = MEASURE_SEED, nhits = 0;
  while (nhashes > 0) {
    const size_t n = nhashes < max_nhashes ? (size_t)nhashes : max_nhashes;
    for (size_t i = 0; i * sizeof *words < n * hash_nbytes; i++)
      words[i] = splitmix64(&state);
    nhits += lanebloom_filter_screen_hashes(filter, words, n, NULL);
    nhashes -= n;
  }
  return nhits;
}

/* Returns the rate with its 95 % score interval. Unlike the normal approximation, this interval is
 * also correct for rates near 0 (E. B. Wilson, Probable inference, the law of succession, and
 * statistical inference, Journal of the American Statistical Association 22(158), 1927). */
static struct measurement score(uint64_t nhits, uint64_t nhashes)
{
  const double z = 1.959963984540054; /* the 97.5 % quantile of the normal distribution */
  double n = (double)nhashes, rate = (double)nhits / n;
  double centre = (rate + z * z / (2 * n)) / (1 + z * z / n);
  double half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  double low = nhits == 0 ? 0 : centre - half; /* the formula would give 0 only up to a rounding
                                                * error */
  double high = nhits == nhashes ? 1 : centre + half;
  return (struct measurement){true, rate, low, high};
}

struct measurement measure(const lanebloom_filter *filter, lanebloom_format format,
                           uint64_t nhashes)
{
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  if (nhashes == 0 || hash_nbytes == 0)
    return (struct measurement){0};
  return score(count_random_hits(filter, hash_nbytes, nhashes), nhashes);
}
