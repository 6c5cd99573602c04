/* Step 12: hashes in lanes on AArch64, like step 8 on x86-64.
 *
 * `ld2` separates even and odd words while it loads, so no shuffles are needed:
 *
 *   memory            A0 a0 A1 a1 A2 a2 A3 a3         keys of two words
 *   val[0]            A0 A1 A2 A3                     first words
 *   val[1]            a0 a1 a2 a3                     second words
 *
 * Two registers with four keys each are hashed at the same time: while one chain of operations
 * waits for its multiplication, the other one continues.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"
#include <arm_neon.h>

static inline uint32x4_t mix(uint32x4_t hashes, uint32x4_t words)
{
  const uint32x4_t products = vmulq_n_u32(vaddq_u32(hashes, words), BLOOMHASH_MULTIPLIER);
  return veorq_u32(products, vshrq_n_u32(products, 16));
}

static void hash(const uint64_t *keys, uint32_t *hashes)
{
  const uint32x4_t start = vdupq_n_u32(BLOOMHASH_SEED ^ 8 * BLOOMHASH_MULTIPLIER);
  for (size_t i = 0; i < NKEYS; i += 8) {
    const uint32x4x2_t low = vld2q_u32((const void *)(keys + i));
    const uint32x4x2_t high = vld2q_u32((const void *)(keys + i + 4));
    vst1q_u32(hashes + i, mix(mix(start, low.val[0]), low.val[1]));
    vst1q_u32(hashes + i + 4, mix(mix(start, high.val[0]), high.val[1]));
  }
}

int main(int argc, char **argv)
{
  return climb_hashing(argc, argv, "step 12: NEON, BloomHash of 8 bytes", hash);
}
