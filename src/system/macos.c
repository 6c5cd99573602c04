/* Defines what only macOS has (see system.h).
 * SPDX-License-Identifier: MIT */
#include "system.h"

/* On arm64, the system gives no such bits. Of the instructions that lanebloom looks for in these
 * bits, every Mac has those for CRC-32. */
unsigned long lanebloom_system_cpu_bits(int word)
{
  return word == 1 ? SYSTEM_ARM64_CRC32 : 0;
}
