/* Adding to a filter of LevelDB's layout. Lanes compute positions, and scalar code sets the bits,
 * because a scatter cannot set two bits of one byte.
 * SPDX-License-Identifier: MIT */
#include "leveldb.h"
#include "stream.h"

/* Sets n bits; n is a multiple of 8. Two offsets and eight masks are loaded at a time, because each
 * store needs two loads already. Single bytes are stored: with wider stores, a store would wait
 * more often for the one before. */
static inline void set_bits_at(uint8_t *payload, const struct bits *bits, size_t n)
{
  for (size_t i = 0; i < n; i += 8) {
    uint64_t masks, two;
    memcpy(&masks, bits->masks + i, sizeof masks);
    for (size_t j = 0; j < 8; j += 2) {
      memcpy(&two, bits->bytes + i + j, sizeof two);
      payload[(uint32_t)two] |= (uint8_t)masks;
      payload[two >> 32] |= (uint8_t)(masks >> 8);
      masks >>= 16;
    }
  }
}

/* Returns the group of hashes at `first` of n. If it is not full, it ends with the last hash, and
 * so overlaps the group before. If there is no group before, the hashes are copied to `filled` and
 * repeated in turn. Repeating only one of them would be slow: its bits would wait for each
 * other. */
static inline const uint8_t *group_at(const uint8_t *hashes, size_t first, size_t n,
                                      uint32_t *filled)
{
  const size_t left = n - first, nlanes = (left + LANES32 - 1) / LANES32 * LANES32;
  if (left >= GROUP_NKEYS)
    return hashes + first * sizeof(uint32_t);
  if (nlanes <= n)
    return hashes + (n - nlanes) * sizeof(uint32_t);
  for (size_t i = 0; i < nlanes; i++)
    filled[i] = i < left ? hash32_at(hashes, first + i) : filled[i - left];
  return (const uint8_t *)filled;
}

/* Computes all probes of the first nkeys hashes of a group. To fill lanes, it also computes those
 * of some hashes after them. Stores positions or bits, whichever is not NULL. Returns how many: a
 * multiple of 8. */
static inline __attribute__((always_inline)) size_t
locate_group(const struct modulus *modulus, uint32_t nprobes, const uint8_t *hashes, size_t nkeys,
             uint32_t *positions, struct bits *bits)
{
  size_t n = 0;
  for (size_t i = 0; i < nkeys; i += LANES32) {
    vector probes = load(hashes + i * sizeof(uint32_t));
    const vector strides = strides_of(probes);
    for (uint32_t p = 0; p < nprobes; p++, n += LANES32) {
      const vector at = positions_of(probes, modulus);
      if (positions)
        store(positions + n, at);
      else
        put_bits(bits, n, shift_right32(at, 3), at);
      probes = add32(probes, strides);
    }
  }
  return n;
}

/* ---- One by one ---- */

/* Sets the bits of n hashes. */
static inline __attribute__((always_inline)) void add_block(const struct filter_shape *shape,
                                                            uint8_t *payload,
                                                            const struct modulus *modulus,
                                                            const uint8_t *hashes, size_t n)
{
  for (size_t first = 0; first < n; first += GROUP_NKEYS) {
    struct bits bits;
    uint32_t filled[GROUP_NKEYS];
    const uint8_t *group = group_at(hashes, first, n, filled);
    const size_t nkeys = n - first < GROUP_NKEYS ? n - first : GROUP_NKEYS;
    const size_t nbits = locate_group(modulus, shape->nprobes, group, nkeys, NULL, &bits);
    set_bits_at(payload, &bits, nbits);
  }
}

/* ---- By partitions ---- */

/* Sets the bits at n positions that a partition has collected, which are whole cache lines. It is
 * not inlined, because its registers would spill those of the loop that collects. */
static __attribute__((noinline)) void partition_apply(const struct filter_shape *shape,
                                                      uint8_t *payload, size_t partition,
                                                      const uint8_t *positions, size_t n)
{
  struct bits bits;
  partition_load(shape, payload, partition);
  for (size_t nbits, first = 0; first < n; first += nbits) {
    nbits = n - first < MAX_NBITS ? n - first : MAX_NBITS;
    for (size_t i = 0; i < nbits; i += LANES32) {
      const vector at = load(positions + (first + i) * sizeof(uint32_t));
      put_bits(&bits, i, shift_right32(at, 3), at);
    }
    set_bits_at(payload, &bits, nbits);
  }
}

static inline __attribute__((always_inline)) void
partition_collect(const struct filter_shape *shape, uint8_t *payload,
                  const struct partitions *partitions, uint32_t position)
{
  const size_t partition = position >> (PARTITION_LOG2_NBYTES + 3);
  if (partition_append(partitions, &POSITIONS, partition, &position, stream_line)) {
    partition_apply(shape, payload, partition,
                    partition_collected(partitions, &POSITIONS, partition),
                    partitions->max_nelements);
    partitions->counts[partition] = 0;
  }
}

/* Collects the positions of n hashes. */
static inline __attribute__((always_inline)) void
partitions_add_block(const struct filter_shape *shape, uint8_t *payload,
                     const struct modulus *modulus, const struct partitions *partitions,
                     const uint8_t *hashes, size_t n)
{
  for (size_t first = 0; first < n; first += GROUP_NKEYS) {
    _Alignas(CACHE_LINE_NBYTES) uint32_t positions[MAX_NBITS];
    uint32_t filled[GROUP_NKEYS];
    const uint8_t *group = group_at(hashes, first, n, filled);
    const size_t nkeys = n - first < GROUP_NKEYS ? n - first : GROUP_NKEYS;
    const size_t npositions = locate_group(modulus, shape->nprobes, group, nkeys, positions, NULL);
    for (size_t i = 0; i < npositions; i++)
      partition_collect(shape, payload, partitions, positions[i]);
  }
}

/* Sets the bits that are left in the partitions. */
static inline void partitions_apply_all(const struct filter_shape *shape, uint8_t *payload,
                                        const struct partitions *partitions)
{
  for (size_t partition = 0; partition < partitions->n; partition++) {
    const size_t n = partition_fill_up(partitions, &POSITIONS, partition, stream_line);
    if (n > 0)
      partition_apply(shape, payload, partition,
                      partition_collected(partitions, &POSITIONS, partition), n);
  }
}

/* ---- The driver ---- */

/* Adds all hashes. The source's scratch memory, if any, has positions_nbytes() bytes. */
void KERNEL(leveldb_add)(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  size_t n;
  if (!source->scratch) {
    while (source->next < source->n) {
      const uint8_t *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
      add_block(shape, payload, &modulus, hashes, n);
    }
    return;
  }
  const struct partitions partitions =
      partitions_in(source->scratch, shape, &POSITIONS, source->n, shape->nprobes);
  while (source->next < source->n) {
    const uint8_t *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
    partitions_add_block(shape, payload, &modulus, &partitions, hashes, n);
  }
  partitions_apply_all(shape, payload, &partitions);
}
