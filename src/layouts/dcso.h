/* Defines which bits of the payload a hash probes in DCSO's filters.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LAYOUTS_DCSO_H
#define LANEBLOOM_LAYOUTS_DCSO_H

#include "shape.h"

/* The probes of a hash are a chain of steps. The first step is the hash, and each further step is
 * the product of the step before it and a multiplier. A product has 64 bits, without the bits that
 * overflow. Each step, the first one included, is reduced modulo a prime that is little less than
 * 2^64. Probe i is step i, for i from 1 to the number of probes, modulo the number of bits
 * (DCSO/bloom 0.2.4, bloom.go, Fingerprint). */
static const uint64_t DCSO_MULTIPLIER = 0xfffffffffffffa43, DCSO_PRIME = 0xffffffffffffffc5;

static inline uint64_t dcso_reduced(uint64_t value)
{
  return value >= DCSO_PRIME ? value - DCSO_PRIME : value;
}

static inline uint64_t dcso_next(uint64_t step)
{
  return dcso_reduced(step * DCSO_MULTIPLIER);
}

/* DCSO's readers accept any number of probes. This limit makes sure that a damaged number does not
 * cost minutes of probing. No filter needs more probes: 255 probes make a rate of 2^-255. */
enum { DCSO_MAX_NPROBES = 255 };

#endif
