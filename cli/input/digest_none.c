/* Takes the place of the digests in builds without Nettle.
 * SPDX-License-Identifier: MIT */
#include "digest.h"

bool has_digests(void)
{
  return false;
}

uint8_t *digest_text(uint32_t flags, lanebloom_slice text, uint8_t *to)
{
  (void)flags, (void)text, (void)to;
  return NULL;
}

size_t count_utf8(lanebloom_slice text)
{
  return text.size;
}
