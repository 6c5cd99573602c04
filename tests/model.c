/* LevelDB's filter written a second time, straight from its definition.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "model.h"

static const uint64_t TWO_TO_32 = (uint64_t)1 << 32;
static const uint64_t MULTIPLIER = 0xc6a4a793;

/* In 64 bits, and brought below 2^32 after each step. */
uint32_t model_bloomhash(const void *key, size_t size, bool signed_tail)
{
  const uint8_t *bytes = key;
  const size_t ntail = size % 4, nwords = (size - ntail) / 4;
  uint64_t h = 0xbc9f1d34 ^ size * MULTIPLIER % TWO_TO_32;

  for (size_t w = 0; w < nwords; w++) {
    uint64_t word = 0;
    for (size_t digit = 4; digit-- > 0;)
      word = word * 256 + bytes[4 * w + digit];
    h = (h + word) * MULTIPLIER % TWO_TO_32;
    h ^= h / 65536;
  }
  if (ntail == 0)
    return (uint32_t)h;

  int64_t tail = 0;
  for (size_t digit = ntail; digit-- > 0;) {
    int value = bytes[4 * nwords + digit];
    if (signed_tail && value > 127)
      value -= 256;
    tail = tail * 256 + value;
  }
  h = (h + (uint64_t)tail) * MULTIPLIER % TWO_TO_32;
  return (uint32_t)(h ^ h / 16777216);
}

uint64_t model_position(uint32_t hash, unsigned i, uint64_t nbytes)
{
  const uint64_t rotated = hash / 131072 + hash % 131072 * (uint64_t)32768; /* right by 17 */
  const uint64_t probe = (hash + i * rotated) % TWO_TO_32;
  return probe % (nbytes * 8);
}

/* 0.69 bits per probe, in hundredths; no product with a fraction so small that a double would round it up. */
unsigned model_nprobes(unsigned bits_per_key)
{
  const uint64_t nprobes = (uint64_t)bits_per_key * 69 / 100;
  return nprobes == 0 ? 1 : nprobes > 30 ? 30 : (unsigned)nprobes;
}

static bool is_set(const uint8_t *payload, uint64_t position)
{
  return payload[position / 8] & 1 << position % 8;
}

bool model_may_match(const uint8_t *bytes, size_t size, uint32_t hash)
{
  if (size < 2)
    return false;
  const unsigned nprobes = bytes[size - 1];
  if (nprobes > 30)
    return true;
  unsigned nset = 0;
  for (unsigned i = 0; i < nprobes; i++)
    nset += is_set(bytes, model_position(hash, i, size - 1));
  return nset == nprobes;
}

/* ---- As operations of a kernel table ---- */

static uint32_t nth(const void *hashes, size_t i)
{
  uint32_t hash;
  memcpy(&hash, (const uint8_t *)hashes + 4 * i, 4);
  return hash;
}

static void hash_slices(const lanebloom_keys *keys, void *hashes, bool signed_tail)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint32_t hash = model_bloomhash(slices[i].data, slices[i].size, signed_tail);
    memcpy((uint8_t *)hashes + 4 * i, &hash, 4);
  }
}

static void hash_unsigned(const lanebloom_keys *keys, void *hashes)
{
  hash_slices(keys, hashes, false);
}

static void hash_signed(const lanebloom_keys *keys, void *hashes)
{
  hash_slices(keys, hashes, true);
}

static void probe(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t n,
                  uint8_t *bitmap)
{
  for (size_t i = 0; i < n; i++) {
    if (i % 8 == 0)
      bitmap[i / 8] = 0;
    unsigned nset = 0;
    for (unsigned p = 0; p < shape->nprobes; p++)
      nset += is_set(payload, model_position(nth(hashes, i), p, shape->nbytes));
    if (nset == shape->nprobes)
      bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
  }
}

static void add(const struct filter_shape *shape, uint8_t *payload, const void *hashes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (unsigned p = 0; p < shape->nprobes; p++) {
      const uint64_t position = model_position(nth(hashes, i), p, shape->nbytes);
      payload[position / 8] = (uint8_t)(payload[position / 8] | 1 << position % 8);
    }
}

const struct kernel_ops model_leveldb = {.hash = hash_unsigned, .probe = probe, .add = add};
const struct kernel_ops model_leveldb_signed = {.hash = hash_signed, .probe = probe, .add = add};
