/* The constants of FNV-1 with 64 bits.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_FNV1_H
#define LANEBLOOM_LAYOUTS_FNV1_H

#include <stdint.h>

static const uint64_t FNV1_OFFSET_BASIS = 0xcbf29ce484222325, FNV1_PRIME = 0x100000001b3;

#endif
