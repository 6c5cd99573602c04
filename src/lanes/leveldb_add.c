/* Adds hashes to a filter of LevelDB's layout. Lanes compute the positions, and scalar code sets
 * the bits, because a scatter (one instruction that stores all lanes) cannot set two bits of one
 * byte.
 * SPDX-License-Identifier: MIT */
#include "leveldb.h"
#include "stream.h"

/* Sets n bits; n must be a multiple of 8. Two offsets or eight masks are loaded at a time, so that
 * few loads are needed. Single bytes are loaded and stored: with wider accesses, a load would more
 * often have to wait for the previous store. */
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

/* Returns the group of hashes that begins at hash `first` of n. If fewer hashes are left than a
 * group has, the group is shortened to whole vectors. It may then begin earlier and overlap the
 * previous group, so that it ends with the last hash. If all n hashes together are too few to fill
 * these vectors, the hashes that are left are copied to `filled` and repeated in turn. Repeating
 * only one hash would be slower, because each store to its bytes would wait for the previous
 * store. */
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

/* Computes all probes of the first nkeys hashes of a group, and of the next few hashes if they are
 * needed to fill the last vector. Stores them in `positions` or, if that is NULL, in `bits`.
 * Returns the number of stored elements, a multiple of 8. */
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

/* A filter is far, and its lines are prefetched, if it is larger than this. On a Zen 3, a key takes
 * these times in ns:
 *
 *   size of the filter        6 MiB   8 MiB   12 MiB   16 MiB
 *   without prefetching       9.4     14.0    36.4     43.6
 *   with prefetching          11.7    13.4    20.8     36.5 */
static const uint64_t NEAR_NBYTES = 8 << 20;

/* Sets the bits of n hashes. If the filter is far, the lines of each group are prefetched, and the
 * bits of the previous group are set while these lines are being loaded. */
static inline __attribute__((always_inline)) void
add_block(const struct filter_shape *shape, uint8_t *payload, const struct modulus *modulus,
          const uint8_t *hashes, size_t n, const bool far)
{
  struct bits groups[2], *bits = &groups[0], *before = &groups[far];
  size_t nbits_before = 0;
  for (size_t first = 0; first < n; first += GROUP_NKEYS) {
    uint32_t filled[GROUP_NKEYS];
    const uint8_t *group = group_at(hashes, first, n, filled);
    const size_t nkeys = n - first < GROUP_NKEYS ? n - first : GROUP_NKEYS;
    const size_t nbits = locate_group(modulus, shape->nprobes, group, nkeys, NULL, bits);
    for (size_t i = 0; far && i < nbits; i++)
      __builtin_prefetch(payload + bits->bytes[i], 0, 2);
    set_bits_at(payload, before, far ? nbits_before : nbits);
    nbits_before = nbits;
    struct bits *const done = before;
    before = bits;
    bits = done;
  }
  if (far)
    set_bits_at(payload, before, nbits_before);
}

/* ---- By partitions ---- */

/* Loads a partition into the cache, and sets the bits at the n positions that the partition has
 * collected. The positions must fill whole cache lines. The function is not inlined, because that
 * would leave too few registers to the loop that collects positions. */
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

/* Computes the positions of n hashes and collects them in their partitions. */
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

/* Sets the bits of all positions that are still in the partitions. */
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

/* Adds all hashes. If the source has scratch memory, which must have positions_nbytes() bytes, the
 * hashes are added by partitions, and otherwise one by one. */
void KERNEL(leveldb_add)(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  size_t n;
  if (!source->scratch) {
    while (source->next < source->n) {
      const uint8_t *hashes = hash_source_next(source, BLOCK_NKEYS, &n);
      if (shape->nbytes > NEAR_NBYTES)
        add_block(shape, payload, &modulus, hashes, n, true);
      else
        add_block(shape, payload, &modulus, hashes, n, false);
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
