/* Defines what only macOS has (see system.h).
 * SPDX-License-Identifier: MIT */
#include "system.h"

/* On arm64, the system gives no such bits. Of the instructions that lanebloom looks for in these
 * bits, every Mac has those for CRC-32. */
unsigned long lanebloom_system_cpu_bits(int word)
{
  enum { HWCAP_CRC32 = 1 << 7 }; /* of Linux, asm/hwcap.h */
  return word == 1 ? HWCAP_CRC32 : 0;
}
