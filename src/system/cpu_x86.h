/* Asks an x86 CPU what it has, by CPUID. Compilers have functions for this, but their libraries
 * need not ask the CPU: zig's answers that it has nothing.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID; volume 1,
 * 14.3 and 15.2 (AVX2, AVX-512).
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CPU_X86_H
#define LANEBLOOM_CPU_X86_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

struct cpu_leaf {
  uint32_t a, b, c, d;
};

/* Returns all zeros if the CPU lacks the leaf. */
static inline struct cpu_leaf cpu_leaf(uint32_t leaf, uint32_t subleaf)
{
  struct cpu_leaf found = {0};
  __get_cpuid_count(leaf, subleaf, &found.a, &found.b, &found.c, &found.d);
  return found;
}

static inline bool cpu_has_bits(uint32_t found, uint32_t wanted)
{
  return (found & wanted) == wanted;
}

/* Checks whether the system saves these registers when it changes threads: bits of XCR0, which
 * XGETBV reads. Without OSXSAVE, the instruction does not exist. */
enum { CPU_YMM = 0x06, CPU_ZMM = 0xe6 };
static inline bool cpu_saves(uint32_t registers)
{
  const uint32_t osxsave = 1U << 27;
  if (!cpu_has_bits(cpu_leaf(1, 0).c, osxsave))
    return false;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return cpu_has_bits(low, registers);
}

/* SSSE3, SSE4.1, POPCNT */
static inline bool cpu_has_sse41(void)
{
  return cpu_has_bits(cpu_leaf(1, 0).c, 1U << 9 | 1U << 19 | 1U << 23);
}

/* SSE4.2, which has the instruction for CRC-32C, and PCLMULQDQ, which joins CRCs */
static inline bool cpu_has_crc32c(void)
{
  return cpu_has_bits(cpu_leaf(1, 0).c, 1U << 1 | 1U << 20);
}

/* AVX, AVX2, BMI1, BMI2, POPCNT */
static inline bool cpu_has_avx2(void)
{
  return cpu_has_bits(cpu_leaf(1, 0).c, 1U << 23 | 1U << 28) &&
         cpu_has_bits(cpu_leaf(7, 0).b, 1U << 3 | 1U << 5 | 1U << 8) && cpu_saves(CPU_YMM);
}

/* AVX-512 F, DQ, BW and VL, and what AVX2 needs. macOS saves these registers only for threads that
 * have used them, so AVX2 is chosen there. */
static inline bool cpu_has_avx512(void)
{
  return cpu_has_avx2() &&
         cpu_has_bits(cpu_leaf(7, 0).b, 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31) &&
         cpu_saves(CPU_ZMM);
}

/* AVX-VNNI in registers of 256 bits */
static inline bool cpu_has_avx_vnni(void)
{
  return cpu_has_bits(cpu_leaf(7, 1).a, 1U << 4);
}

/* Checks whether the name of the maker is GenuineIntel. */
static inline bool cpu_is_intel(void)
{
  const struct cpu_leaf name = cpu_leaf(0, 0);
  return name.b == 0x756e6547 && name.d == 0x49656e69 && name.c == 0x6c65746e;
}

#endif
