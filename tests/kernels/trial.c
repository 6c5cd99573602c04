/* Functions that the cases of a kernel share: they place buffers, make string views and the shapes
 * of filters, and call operations on arrays of hashes.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "cases.h"

const size_t batch_sizes[NBATCH_SIZES] = {0,  1,  3,  4,  5,  7,  8,  9,   15,  16,
                                          17, 31, 32, 33, 63, 64, 65, 129, 1000};

size_t trial_place(const struct trial *trial, size_t round)
{
  return round <= AT_BEGIN ? round : rng_below(trial->rng, NPLACES);
}

size_t aligned_place(size_t round)
{
  return round % 2 ? AT_BEGIN : AT_END;
}

struct guarded trial_views(const lanebloom_slice *slices, size_t n, size_t place)
{
  struct guarded views = guarded_make(16 * n, place);
  for (size_t i = 0; i < n; i++) {
    uint8_t *view = views.bytes + 16 * i;
    const uint32_t size = (uint32_t)slices[i].size;
    memset(view, 0xee, 16); /* readers ignore prefixes and bytes after a short string */
    memcpy(view, &size, sizeof size);
    if (size <= 12)
      memcpy(view + 4, size > 0 ? slices[i].data : "", size);
    else
      memcpy(view + 8, &slices[i].data, sizeof slices[i].data);
  }
  guarded_freeze(&views);
  return views;
}

void trial_probe(const struct trial *trial, const struct operations *ops,
                 const struct filter_shape *shape, const uint8_t *payload, const void *hashes,
                 size_t n, uint8_t *bitmap)
{
  struct hash_source source;
  hash_source_of_hashes(&source, hashes, trial->format->hash_nbytes, n);
  ops->probe(shape, payload, &source, bitmap);
}

void trial_add(const struct trial *trial, const struct operations *ops,
               const struct filter_shape *shape, uint8_t *payload, const void *hashes, size_t n)
{
  struct hash_source source;
  hash_source_of_hashes(&source, hashes, trial->format->hash_nbytes, n);
  ops->add(shape, payload, &source);
}

void trial_add_with_scratch(const struct trial *trial, const struct operations *ops,
                            const struct filter_shape *shape, uint8_t *payload, const void *hashes,
                            size_t n)
{
  const size_t nbytes = ops->scratch_nbytes ? ops->scratch_nbytes(shape, n) : 0;
  struct guarded scratch = guarded_make(nbytes, AT_BEGIN);
  struct hash_source source;
  hash_source_of_hashes(&source, hashes, trial->format->hash_nbytes, n);
  source.scratch = nbytes > 0 ? scratch.bytes : NULL;
  ops->add(shape, payload, &source);
  guarded_free(&scratch);
}

struct filter_shape format_shape(const struct format *format, uint64_t nbytes, uint32_t nprobes)
{
  const uint32_t min = format->table->min_nprobes, max = format->table->max_nprobes;
  return format->table->shape(format->table, nbytes - nbytes % format->line_nbytes,
                              format->line_nbytes,
                              nprobes < min   ? min
                              : nprobes > max ? max
                                              : nprobes);
}

uint32_t format_next_nprobes(const struct format *format, uint32_t nprobes, uint32_t step)
{
  const uint32_t next = nprobes < 30   ? nprobes + step
                        : nprobes < 31 ? 31
                        : nprobes < 64 ? 64
                                       : nprobes + 63;
  return nprobes < 30 && next > 30 ? 30 : next <= format->table->max_nprobes ? next : 0;
}

void trial_note(const struct trial *trial, const struct filter_shape *shape, size_t n, size_t round)
{
  test_context("%s: filter of %llu bytes in lines of %u, %u probes, %zu hashes, round %zu",
               trial->name, (unsigned long long)shape->nbytes, shape->lines.nbytes, shape->nprobes,
               n, round);
}
