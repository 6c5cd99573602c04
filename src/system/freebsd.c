/* Defines what only FreeBSD has (see system.h).
 * SPDX-License-Identifier: MIT */
#include <sys/auxv.h>

#include "system.h"

unsigned long lanebloom_system_cpu_bits(int word)
{
  unsigned long bits = 0;
  return elf_aux_info(word == 1 ? AT_HWCAP : AT_HWCAP2, &bits, sizeof bits) == 0 ? bits : 0;
}
