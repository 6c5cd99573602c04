/* leveldb in lanes of NEON, as avx2 has it where lanes are loaded one by one. A step takes two
 * registers of four lanes.
 * SPDX-License-Identifier: MIT */
#include "../lanes/leveldb_add.h"
#include "../lanes/leveldb_probe.h"
#include "../scalar/scalar.h"
#include "compaction.h"
#include "isa.h"
#include "neon.h"

/* ---- Vocabulary ---- */

enum { LANES = 8 };

/* Eight lanes of 32 bits. */
struct lanes {
  uint32x4_t low, high;
};

static inline uint32x4_t load_four(const void *from)
{
  return vreinterpretq_u32_u8(vld1q_u8(from));
}

static inline struct lanes load(const void *from)
{
  return (struct lanes){load_four(from), load_four((const uint8_t *)from + 16)};
}

static inline void store(uint32_t *to, struct lanes lanes)
{
  vst1q_u32(to, lanes.low);
  vst1q_u32(to + 4, lanes.high);
}

static inline struct lanes sum_of(struct lanes a, struct lanes b)
{
  return (struct lanes){vaddq_u32(a.low, b.low), vaddq_u32(a.high, b.high)};
}

static inline uint32x4_t four_strides(uint32x4_t hashes)
{
  return vsriq_n_u32(vshlq_n_u32(hashes, 15), hashes, 17);
}

static inline struct lanes strides_of(struct lanes hashes)
{
  return (struct lanes){four_strides(hashes.low), four_strides(hashes.high)};
}

/* The upper halves of 64-bit products:
 *
 *   [n0 * m] [n1 * m]
 *   [n2 * m] [n3 * m]   ->   h0 h1 h2 h3 */
static inline uint32x4_t upper_halves(uint32x4_t n, uint32x4_t multiplier)
{
  const uint64x2_t low = vmull_u32(vget_low_u32(n), vget_low_u32(multiplier));
  const uint64x2_t high = vmull_high_u32(n, multiplier);
  return vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
}

/* The bit of each probe in its byte. Lanes become bytes. */
static inline uint8x8_t bits_of(struct lanes probes)
{
  const uint16x8_t halves =
      vuzp1q_u16(vreinterpretq_u16_u32(probes.low), vreinterpretq_u16_u32(probes.high));
  const uint8x8_t positions = vand_u8(vmovn_u16(halves), vdup_n_u8(7));
  return vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(positions));
}

/* Lanes leave their registers in pairs, as moves to general ones are slow. Half a pair is taken by
 * the instruction that adds it to an address. */
struct indices {
  uint64_t pair01, pair23, pair45, pair67;
};

static inline struct indices indices_of(struct lanes lanes)
{
  const uint64x2_t low = vreinterpretq_u64_u32(lanes.low), high = vreinterpretq_u64_u32(lanes.high);
  return (struct indices){
      vgetq_lane_u64(low, 0),
      vgetq_lane_u64(low, 1),
      vgetq_lane_u64(high, 0),
      vgetq_lane_u64(high, 1),
  };
}

static inline uint64_t pair_at(const uint32_t *lanes)
{
  uint64_t pair;
  memcpy(&pair, lanes, sizeof pair);
  return pair;
}

static inline struct indices indices_at(const uint32_t *lanes)
{
  return (struct indices){pair_at(lanes), pair_at(lanes + 2), pair_at(lanes + 4),
                          pair_at(lanes + 6)};
}

static inline size_t low_index(uint64_t pair)
{
  return (uint32_t)pair;
}

static inline size_t high_index(uint64_t pair)
{
  return pair >> 32;
}

/* ---- Probing ---- */

/* What lanes need to know of a filter. */
struct probed {
  const uint8_t *payload;
  uint32_t nprobes;
  uint32x4_t multiplier, nbytes;
  int32x4_t shift; /* of quotients' upper halves, to the right: 0 or less from 2 bytes on */
};

enum { MIN_NBYTES = 2 };

static inline struct probed probed_of(const struct filter_shape *shape, const uint8_t *payload)
{
  return (struct probed){
      .payload = payload,
      .nprobes = shape->nprobes,
      .multiplier = vdupq_n_u32(shape->reciprocal.multiplier),
      .nbytes = vdupq_n_u32((uint32_t)(shape->nbits / 8)),
      .shift = vdupq_n_s32(32 - (int32_t)shape->reciprocal.shift),
  };
}

/* The byte of each probe, (probe >> 3) % nbytes. */
static inline uint32x4_t four_bytes(const struct probed *filter, uint32x4_t probes)
{
  const uint32x4_t n = vshrq_n_u32(probes, 3);
  return vmlsq_u32(n, vshlq_u32(upper_halves(n, filter->multiplier), filter->shift),
                   filter->nbytes);
}

static inline struct lanes leveldb_bytes(const struct probed *filter, struct lanes probes)
{
  return (struct lanes){four_bytes(filter, probes.low), four_bytes(filter, probes.high)};
}

/* The last n hashes, less than LANES. Other lanes are 0. */
static inline struct lanes load_last(const uint8_t *hashes, size_t n)
{
  uint32_t padded[LANES] = {0};
  memcpy(padded, hashes, n * sizeof(uint32_t));
  return load(padded);
}

static inline unsigned first_lanes(size_t n)
{
  return (1u << n) - 1;
}

static inline uint8x8_t load_bytes(const uint8_t *payload, struct indices at)
{
  uint8x8_t loaded = vld1_dup_u8(payload + low_index(at.pair01));
  loaded = vld1_lane_u8(payload + high_index(at.pair01), loaded, 1);
  loaded = vld1_lane_u8(payload + low_index(at.pair23), loaded, 2);
  loaded = vld1_lane_u8(payload + high_index(at.pair23), loaded, 3);
  loaded = vld1_lane_u8(payload + low_index(at.pair45), loaded, 4);
  loaded = vld1_lane_u8(payload + high_index(at.pair45), loaded, 5);
  loaded = vld1_lane_u8(payload + low_index(at.pair67), loaded, 6);
  return vld1_lane_u8(payload + high_index(at.pair67), loaded, 7);
}

/* All ones where a probe finds its bit. */
static inline __attribute__((always_inline)) uint8x8_t leveldb_test(const struct probed *filter,
                                                                    struct lanes probes)
{
  return vtst_u8(load_bytes(filter->payload, indices_of(leveldb_bytes(filter, probes))),
                 bits_of(probes));
}

/* Into the second-level cache, as by avx2. Always inline: gcc 12 drops calls of a function that
 * only prefetches. */
static inline __attribute__((always_inline)) void prefetch_line(const uint8_t *byte)
{
  __builtin_prefetch(byte, 0, 2);
}

static inline __attribute__((always_inline)) void prefetch_lines(const uint8_t *payload,
                                                                 struct indices at)
{
  prefetch_line(payload + low_index(at.pair01));
  prefetch_line(payload + high_index(at.pair01));
  prefetch_line(payload + low_index(at.pair23));
  prefetch_line(payload + high_index(at.pair23));
  prefetch_line(payload + low_index(at.pair45));
  prefetch_line(payload + high_index(at.pair45));
  prefetch_line(payload + low_index(at.pair67));
  prefetch_line(payload + high_index(at.pair67));
}

/* Taken over from avx2: nothing was measured on ARM. */
enum {
  FEW_NKEYS = 8, /* fewer go to scalar */
};

/* Moves survivors of four keys together behind nsurvivors others. Returns how many there are
 * then. */
static inline size_t append_four(struct survivors *survivors, size_t nsurvivors, uint32x4_t hashes,
                                 uint32x4_t indices, unsigned mask)
{
  vst1q_u32(survivors->hashes + nsurvivors, compact_four(hashes, mask));
  vst1q_u32(survivors->indices + nsurvivors, compact_four(indices, mask));
  return nsurvivors + nsurvivors_of[mask];
}

static inline size_t append(struct survivors *survivors, size_t nsurvivors, struct lanes hashes,
                            struct lanes indices, unsigned mask)
{
  nsurvivors = append_four(survivors, nsurvivors, hashes.low, indices.low, mask & 15);
  return append_four(survivors, nsurvivors, hashes.high, indices.high, mask >> 4);
}

/* The indices of a whole block's keys, in lanes. */
static inline struct lanes indices_from(size_t i)
{
  static const uint32_t first[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint32x4_t at = vdupq_n_u32((uint32_t)i);
  return sum_of(load(first), (struct lanes){at, at});
}

/* Probe p of these hashes. */
static inline struct lanes probes_of(struct lanes hashes, struct lanes strides, uint32_t p)
{
  return (struct lanes){vmlaq_n_u32(hashes.low, strides.low, p),
                        vmlaq_n_u32(hashes.high, strides.high, p)};
}

/* All ones where probes first .. end of a key find their bits. */
static inline __attribute__((always_inline)) uint8x8_t
test_probes(const struct probed *filter, struct lanes hashes, uint32_t first, uint32_t end)
{
  const struct lanes strides = strides_of(hashes);
  struct lanes probes = probes_of(hashes, strides, first);
  uint8x8_t passed = leveldb_test(filter, probes);
  for (uint32_t p = first + 1; p < end; p++) {
    probes = sum_of(probes, strides);
    passed = vand_u8(passed, leveldb_test(filter, probes));
  }
  return passed;
}

static inline __attribute__((always_inline)) size_t
compact(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices, size_t n,
        uint32_t first, uint32_t end, struct survivors *survivors)
{
  size_t nsurvivors = 0, i = 0;
  for (; i + LANES <= n; i += LANES) {
    const struct lanes hash = load(hashes + i * sizeof(uint32_t)),
                       index = indices ? load(indices + i) : indices_from(i);
    const unsigned mask = mask_of(test_probes(filter, hash, first, end));
    nsurvivors = append(survivors, nsurvivors, hash, index, mask);
  }
  if (i < n) {
    const struct lanes hash = load_last(hashes + i * sizeof(uint32_t), n - i);
    const struct lanes index = indices ? load(indices + i) : indices_from(i);
    const unsigned mask = mask_of(test_probes(filter, hash, first, end)) & first_lanes(n - i);
    nsurvivors = append(survivors, nsurvivors, hash, index, mask);
  }
  return nsurvivors;
}

static inline __attribute__((always_inline)) size_t
probe_all(const struct probed *filter, const uint8_t *hashes, size_t n, uint8_t *bitmap)
{
  size_t nhits = 0, i = 0;
  for (; i + LANES <= n; i += LANES) {
    const struct lanes hash = load(hashes + i * sizeof(uint32_t));
    const unsigned mask = mask_of(test_probes(filter, hash, 0, filter->nprobes));
    bitmap[i / LANES] = (uint8_t)mask;
    nhits += (unsigned)__builtin_popcount(mask);
  }
  if (i < n) {
    const struct lanes hash = load_last(hashes + i * sizeof(uint32_t), n - i);
    const unsigned mask =
        mask_of(test_probes(filter, hash, 0, filter->nprobes)) & first_lanes(n - i);
    bitmap[i / LANES] = (uint8_t)mask;
    nhits += (unsigned)__builtin_popcount(mask);
  }
  return nhits;
}

/* By way of a byte for each of n keys (counted: 1 instruction more per key, 5 less per hit). */
static inline __attribute__((always_inline)) void mark(const uint32_t *indices, size_t nhits,
                                                       size_t n, uint8_t *bitmap)
{
  uint8_t passed[BLOCK_NKEYS];
  memset(passed, 0, (n + 7) / 8 * 8);
  for (size_t i = 0; i < nhits; i++)
    passed[indices[i]] = 0xff;
  for (size_t i = 0; i < n; i += 8)
    bitmap[i / 8] = mask_of(vld1_u8(passed + i));
}

static const struct leveldb_probe_vocabulary near = {compact, probe_all, mark};

/* A larger filter: each cache line is prefetched a pass before its test, the first ones of a block
 * before the block before is tested. Unlike avx2, which computes bytes once to prefetch and again
 * to test, the test finds them where prefetching left them; lines are prefetched for survivors
 * only; and a pass has as many probes as all before it had, because survivors will mostly pass.
 * Where more than a few keys do, the first pass has two probes. */
enum { MAX_NFETCHED = 4, FAR_NFIRST = 2 };

/* A probe of each key of a block, once its cache line is in flight: which byte it tests, and which
 * bit of that. */
struct fetched {
  _Alignas(16) uint32_t bytes[FAR_BLOCK_NKEYS];
  uint8_t bits[FAR_BLOCK_NKEYS];
};

/* Probe p of keys i and following, eight of them. */
static inline __attribute__((always_inline)) void fetch_eight(const struct probed *filter,
                                                              struct lanes hashes, uint32_t p,
                                                              struct fetched *fetched, size_t i)
{
  const struct lanes probes = p == 0 ? hashes : probes_of(hashes, strides_of(hashes), p);
  const struct lanes bytes = leveldb_bytes(filter, probes);
  store(fetched->bytes + i, bytes);
  vst1_u8(fetched->bits + i, bits_of(probes));
  prefetch_lines(filter->payload, indices_of(bytes));
}

/* Probes first .. end of n keys. The filter is a copy, as stores might change another. */
static inline void fetch_block(const struct probed filter, const uint8_t *hashes, size_t n,
                               uint32_t first, uint32_t end, struct fetched *fetched)
{
  for (uint32_t p = first; p < end; p++, fetched++) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
      fetch_eight(&filter, load(hashes + i * sizeof(uint32_t)), p, fetched, i);
    if (i < n)
      fetch_eight(&filter, load_last(hashes + i * sizeof(uint32_t), n - i), p, fetched, i);
  }
}

static inline __attribute__((always_inline)) uint8x8_t
test_one(const uint8_t *payload, const struct fetched *fetched, size_t i)
{
  return vtst_u8(load_bytes(payload, indices_at(fetched->bytes + i)), vld1_u8(fetched->bits + i));
}

/* All ones where those of keys i and following find their bits. */
static inline __attribute__((always_inline)) uint8x8_t
test_fetched(const uint8_t *payload, uint32_t nfetched, const struct fetched *fetched, size_t i)
{
  uint8x8_t passed = test_one(payload, fetched, i);
  for (uint32_t p = 1; p < nfetched; p++)
    passed = vand_u8(passed, test_one(payload, &fetched[p], i));
  return passed;
}

/* As compact, for probes whose bytes were fetched. */
static inline size_t compact_fetched(const uint8_t *payload, uint32_t nfetched,
                                     const struct fetched *fetched, const uint8_t *hashes,
                                     const uint32_t *indices, size_t n, struct survivors *survivors)
{
  size_t nsurvivors = 0, i = 0;
  for (; i + LANES <= n; i += LANES) {
    const struct lanes hash = load(hashes + i * sizeof(uint32_t)),
                       index = indices ? load(indices + i) : indices_from(i);
    const unsigned mask = mask_of(test_fetched(payload, nfetched, fetched, i));
    nsurvivors = append(survivors, nsurvivors, hash, index, mask);
  }
  if (i < n) {
    const struct lanes hash = load_last(hashes + i * sizeof(uint32_t), n - i);
    const struct lanes index = indices ? load(indices + i) : indices_from(i);
    const unsigned mask = mask_of(test_fetched(payload, nfetched, fetched, i)) & first_lanes(n - i);
    nsurvivors = append(survivors, nsurvivors, hash, index, mask);
  }
  return nsurvivors;
}

static inline void leveldb_probe_far(const struct probed *filter, struct hash_source *source,
                                     uint8_t *bitmap)
{
  const uint32_t nprobes = filter->nprobes;
  struct fetched blocks[2][MAX_NFETCHED], *block = blocks[0], *next_block = blocks[1];
  struct survivors survivors;
  const uint8_t *const left_hashes = (const uint8_t *)survivors.hashes;
  uint32_t nfirst = 1, next_nfirst;
  size_t n, next_n, nhits = 0, last_n = 1;
  const uint8_t *hashes = hash_source_next(source, FAR_BLOCK_NKEYS, &n), *next;
  fetch_block(*filter, hashes, n, 0, nfirst, block);
  for (; n > 0; hashes = next, n = next_n, nfirst = next_nfirst) {
    next = hash_source_next(source, FAR_BLOCK_NKEYS, &next_n);
    next_nfirst = nhits * 100 <= last_n * FEW_PERCENT ? 1 : FAR_NFIRST;
    fetch_block(*filter, next, next_n, 0, end_of(0, next_nfirst, nprobes), next_block);
    uint32_t end = end_of(0, nfirst, nprobes);
    size_t left = compact_fetched(filter->payload, end, block, hashes, NULL, n, &survivors);
    for (uint32_t first = end; first < nprobes && left > 0; first = end) {
      end = end_of(first, first < MAX_NFETCHED ? first : MAX_NFETCHED, nprobes);
      fetch_block(*filter, left_hashes, left, first, end, block);
      left = compact_fetched(filter->payload, end - first, block, left_hashes, survivors.indices,
                             left, &survivors);
    }
    mark(survivors.indices, left, n, bitmap);
    bitmap += (n + 7) / 8;
    nhits = left;
    last_n = n;
    struct fetched *const done = block;
    block = next_block;
    next_block = done;
  }
}

void lanebloom_leveldb_probe_neon(const struct filter_shape *shape, const uint8_t *payload,
                                  struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes < MIN_NBYTES || source->n < FEW_NKEYS) {
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct probed filter = probed_of(shape, payload);
  if (shape->nbytes <= NEAR_NBYTES)
    leveldb_probe_near(shape, &filter, &near, source, bitmap);
  else
    leveldb_probe_far(&filter, source, bitmap);
}

/* ---- Adding ---- */

/* What takes a probe modulo nbits. */
struct modulus {
  uint32x4_t multiplier, nbits;
  int32x4_t shift;
};

/* Numerators are left 8 times as large, so that filters of one byte are no exception: quotients lie
 * in the upper halves of their products, but for a shift to the right. */
static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = vdupq_n_u32(shape->reciprocal.multiplier),
      .nbits = vdupq_n_u32((uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
      .shift = vdupq_n_s32(32 - 3 - (int32_t)shape->reciprocal.shift),
  };
}

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. */
static inline uint32x4_t four_positions(uint32x4_t probes, const struct modulus *modulus)
{
  const uint32x4_t quotients = vshlq_u32(
      upper_halves(vbicq_u32(probes, vdupq_n_u32(7)), modulus->multiplier), modulus->shift);
  return vmlsq_u32(probes, quotients, modulus->nbits);
}

static inline struct lanes positions_of(struct lanes probes, const struct modulus *modulus)
{
  return (struct lanes){four_positions(probes.low, modulus), four_positions(probes.high, modulus)};
}

/* Bytes, and masks in them. */
static inline void put_bits(struct bits *bits, size_t i, struct lanes positions)
{
  store(bits->bytes + i,
        (struct lanes){vshrq_n_u32(positions.low, 3), vshrq_n_u32(positions.high, 3)});
  vst1_u8(bits->masks + i, bits_of(positions));
}

static inline __attribute__((always_inline)) size_t find(const struct modulus *modulus,
                                                         uint32_t nprobes, const uint8_t *hashes,
                                                         size_t nkeys, uint32_t *positions,
                                                         struct bits *bits)
{
  size_t n = 0;
  for (size_t i = 0; i < nkeys; i += LANES) {
    struct lanes probes = load(hashes + i * sizeof(uint32_t));
    const struct lanes strides = strides_of(probes);
    for (uint32_t p = 0; p < nprobes; p++, n += LANES) {
      const struct lanes at = positions_of(probes, modulus);
      if (positions)
        store(positions + n, at);
      else
        put_bits(bits, n, at);
      probes = sum_of(probes, strides);
    }
  }
  return n;
}

static inline __attribute__((always_inline)) void find_bits(const uint32_t *positions, size_t n,
                                                            struct bits *bits)
{
  for (size_t i = 0; i < n; i += LANES)
    put_bits(bits, i, load(positions + i));
}

/* Through the cache: NEON's intrinsics have no other stores. */
static inline __attribute__((always_inline)) void copy_line(uint32_t *to,
                                                            const struct positions_line *line)
{
  memcpy(to, line->positions, sizeof line->positions);
}

static const struct leveldb_add_vocabulary adding = {find, find_bits, copy_line};

void lanebloom_leveldb_add_neon(const struct filter_shape *shape, uint8_t *payload,
                                struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  leveldb_add(shape, payload, source, &modulus, &adding);
}
