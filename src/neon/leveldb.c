/* leveldb in lanes of NEON. A step takes registers in pairs, of four lanes each.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "compaction.h"
#include "isa.h"

/* ---- Vocabulary ---- */

typedef struct {
  uint32x4_t low, high;
} lanes;
typedef uint8x8_t found; /* all ones where the tested bit is set */
enum { LANES = 8 };

/* What takes a probe modulo nbits. */
struct modulus {
  uint32x4_t multiplier, nbits, nbytes;
  int32x4_t shift, byte_shift; /* of quotients' upper halves, to the right: 0 or less */
};

/* Numerators are left 8 times as large, so that filters of one byte are no exception: quotients lie
 * in the upper halves of their products, but for a shift to the right. */
static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = vdupq_n_u32(shape->leveldb.reciprocal.multiplier),
      .nbits = vdupq_n_u32((uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
      .nbytes = vdupq_n_u32((uint32_t)(shape->nbits / 8)),
      .shift = vdupq_n_s32(32 - 3 - (int32_t)shape->leveldb.reciprocal.shift),
      .byte_shift = vdupq_n_s32(32 - (int32_t)shape->leveldb.reciprocal.shift), /* from 2 bytes on */
  };
}

#include "../lanes/leveldb_add.h"
#include "../lanes/leveldb_probe.h"

static inline uint32x4_t load_four(const void *from)
{
  return vreinterpretq_u32_u8(vld1q_u8(from));
}

static inline lanes load(const void *from)
{
  return (lanes){load_four(from), load_four((const uint8_t *)from + 16)};
}

static inline void store(uint32_t *to, lanes value)
{
  vst1q_u32(to, value.low);
  vst1q_u32(to + 4, value.high);
}

static inline lanes sum_of(lanes a, lanes b)
{
  return (lanes){vaddq_u32(a.low, b.low), vaddq_u32(a.high, b.high)};
}

static inline lanes times(lanes a, uint32_t n)
{
  return (lanes){vmulq_n_u32(a.low, n), vmulq_n_u32(a.high, n)};
}

static inline uint32x4_t four_strides(uint32x4_t hashes)
{
  return vsriq_n_u32(vshlq_n_u32(hashes, 15), hashes, 17);
}

static inline lanes strides_of(lanes hashes)
{
  return (lanes){four_strides(hashes.low), four_strides(hashes.high)};
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

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. */
static inline uint32x4_t four_positions(uint32x4_t probes, const struct modulus *modulus)
{
  const uint32x4_t quotients = vshlq_u32(
      upper_halves(vbicq_u32(probes, vdupq_n_u32(7)), modulus->multiplier), modulus->shift);
  return vmlsq_u32(probes, quotients, modulus->nbits);
}

static inline lanes positions_of(lanes probes, const struct modulus *modulus)
{
  return (lanes){four_positions(probes.low, modulus), four_positions(probes.high, modulus)};
}

/* Lanes become bytes. */
static inline uint8x8_t masks_of(lanes positions)
{
  const uint16x8_t halves =
      vuzp1q_u16(vreinterpretq_u16_u32(positions.low), vreinterpretq_u16_u32(positions.high));
  const uint8x8_t bit = vand_u8(vmovn_u16(halves), vdup_n_u8(7));
  return vshl_u8(vdup_n_u8(1), vreinterpret_s8_u8(bit));
}

static inline void put_bits(struct bits *bits, size_t i, lanes positions)
{
  store(bits->bytes + i, (lanes){vshrq_n_u32(positions.low, 3), vshrq_n_u32(positions.high, 3)});
  vst1_u8(bits->masks + i, masks_of(positions));
}

static const struct leveldb_arithmetic arithmetic = {load,       sum_of,       times,
                                                     strides_of, positions_of, put_bits};

/* ---- Probing ---- */

static inline __attribute__((always_inline)) unsigned test_bits(const uint8_t *payload,
                                                                const struct bits *bits, size_t i)
{
  const uint32_t *at = bits->bytes + i;
  uint8x8_t low = vld1_dup_u8(payload + at[0]);
  low = vld1_lane_u8(payload + at[1], low, 1);
  low = vld1_lane_u8(payload + at[2], low, 2);
  low = vld1_lane_u8(payload + at[3], low, 3);
  low = vld1_lane_u8(payload + at[4], low, 4);
  low = vld1_lane_u8(payload + at[5], low, 5);
  low = vld1_lane_u8(payload + at[6], low, 6);
  low = vld1_lane_u8(payload + at[7], low, 7);
  uint8x8_t high = vld1_dup_u8(payload + at[8]);
  high = vld1_lane_u8(payload + at[9], high, 1);
  high = vld1_lane_u8(payload + at[10], high, 2);
  high = vld1_lane_u8(payload + at[11], high, 3);
  high = vld1_lane_u8(payload + at[12], high, 4);
  high = vld1_lane_u8(payload + at[13], high, 5);
  high = vld1_lane_u8(payload + at[14], high, 6);
  high = vld1_lane_u8(payload + at[15], high, 7);
  return mask_of(vtst_u8(low, vld1_u8(bits->masks + i))) |
         (unsigned)mask_of(vtst_u8(high, vld1_u8(bits->masks + i + 8))) << 8;
}

/* Lanes leave their registers in pairs, because moves to general ones are slow. */
static inline size_t low_index(uint64_t pair)
{
  return (uint32_t)pair;
}

static inline size_t high_index(uint64_t pair)
{
  return pair >> 32;
}

/* The bytes of probes, probe / 8 % nbytes: fewer instructions than by way of their positions. */
static inline uint32x4_t four_bytes(uint32x4_t probes, const struct modulus *modulus)
{
  const uint32x4_t n = vshrq_n_u32(probes, 3);
  return vmlsq_u32(n, vshlq_u32(upper_halves(n, modulus->multiplier), modulus->byte_shift),
                   modulus->nbytes);
}

static inline found gather(const struct probed *filter, lanes probes)
{
  const uint8_t *payload = filter->payload;
  const lanes at = {four_bytes(probes.low, &filter->modulus),
                    four_bytes(probes.high, &filter->modulus)};
  const uint64x2_t low = vreinterpretq_u64_u32(at.low), high = vreinterpretq_u64_u32(at.high);
  const uint64_t at01 = vgetq_lane_u64(low, 0), at23 = vgetq_lane_u64(low, 1);
  const uint64_t at45 = vgetq_lane_u64(high, 0), at67 = vgetq_lane_u64(high, 1);
  uint8x8_t bytes = vld1_dup_u8(payload + low_index(at01));
  bytes = vld1_lane_u8(payload + high_index(at01), bytes, 1);
  bytes = vld1_lane_u8(payload + low_index(at23), bytes, 2);
  bytes = vld1_lane_u8(payload + high_index(at23), bytes, 3);
  bytes = vld1_lane_u8(payload + low_index(at45), bytes, 4);
  bytes = vld1_lane_u8(payload + high_index(at45), bytes, 5);
  bytes = vld1_lane_u8(payload + low_index(at67), bytes, 6);
  bytes = vld1_lane_u8(payload + high_index(at67), bytes, 7);
  return vtst_u8(bytes, masks_of(probes)); /* whose last bits are those of positions */
}

static inline found both(found a, found b)
{
  return vand_u8(a, b);
}

static inline void store_mask(uint8_t *bitmap, found gathered)
{
  *bitmap = mask_of(gathered);
}

/* Moves survivors of four keys together behind nsurvivors others. Returns how many there are
 * then. */
static inline size_t append_four(struct survivors *survivors, size_t nsurvivors, uint32x4_t hashes,
                                 uint32x4_t indices, unsigned mask)
{
  vst1q_u32(survivors->hashes + nsurvivors, compact_four(hashes, mask));
  vst1q_u32(survivors->indices + nsurvivors, compact_four(indices, mask));
  return nsurvivors + nsurvivors_of[mask];
}

static inline size_t append(struct survivors *survivors, size_t nsurvivors, lanes hashes,
                            lanes indices, unsigned mask)
{
  nsurvivors = append_four(survivors, nsurvivors, hashes.low, indices.low, mask & 15);
  return append_four(survivors, nsurvivors, hashes.high, indices.high, mask >> 4);
}

static const struct leveldb_probe_vocabulary probing = {
    .arithmetic = &arithmetic,
    .test_bits = test_bits,
    .gather = gather,
    .both = both,
    .store_mask = store_mask,
    .append = append,
};

void KERNEL(leveldb_probe)(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, modulus_of(shape), &probing, source, bitmap);
}

/* ---- Adding ---- */

/* Through the cache: NEON's intrinsics have no other stores. */
static inline void copy_line(uint8_t *to, const struct cache_line *line)
{
  memcpy(to, line->bytes, sizeof line->bytes);
}

static const struct leveldb_add_vocabulary adding = {&arithmetic, store, copy_line};

void KERNEL(leveldb_add)(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  leveldb_add(shape, payload, source, &modulus, &adding);
}
