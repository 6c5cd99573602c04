/* Computes digests by Nettle.
 * SPDX-License-Identifier: MIT */
#include <nettle/md4.h>
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <string.h>

#include "digest.h"

#if NETTLE_VERSION_MAJOR < 4 /* later versions do not take the size of the digest */
#define DIGEST(name, context, size, to) name##_digest(context, size, to)
#else
#define DIGEST(name, context, size, to) name##_digest(context, to)
#endif

bool has_digests(void)
{
  return true;
}

/* ---- UTF-8 ---- */

/* Reads the character at *at, which is before `end`, and moves *at to its end. Returns false if
 * there is no valid character. Overlong forms and surrogates are not valid (Unicode, table 3-7). */
static bool read_character(const uint8_t **at, const uint8_t *end, uint32_t *character)
{
  const uint8_t *bytes = *at;
  const uint8_t first = *bytes;
  const size_t n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (n == 0 || first > 0xf4 || (size_t)(end - bytes) < n)
    return false;
  uint32_t value = n == 1 ? first : first & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((bytes[i] & 0xc0) != 0x80)
      return false;
    value = value << 6 | (bytes[i] & 0x3fu);
  }
  if ((n == 3 && (value < 0x800 || (value >= 0xd800 && value < 0xe000))) ||
      (n == 4 && (value < 0x10000 || value > 0x10ffff)))
    return false;
  *at += n;
  *character = value;
  return true;
}

size_t count_utf8(lanebloom_slice text)
{
  const uint8_t *at = text.data, *end = at + text.size;
  uint32_t character;
  while (at < end && read_character(&at, end, &character))
    ;
  return (size_t)(at - (const uint8_t *)text.data);
}

/* ---- Digests ---- */

enum { MAX_DIGEST_NBYTES = SHA256_DIGEST_SIZE };

static uint8_t *put_unit(uint8_t *to, uint32_t unit)
{
  to[0] = (uint8_t)unit;
  to[1] = (uint8_t)(unit >> 8);
  return to + 2;
}

/* Computes the MD4 of the text in UTF-16, little-endian. Returns false if the text is not UTF-8. */
static bool digest_ntlm(lanebloom_slice text, uint8_t *digest)
{
  const uint8_t *at = text.data, *end = at + text.size;
  struct md4_ctx context;
  uint8_t units[256];
  md4_init(&context);
  while (at < end) {
    uint8_t *to = units;
    while (at < end && to + 4 <= units + sizeof units) {
      uint32_t character;
      if (!read_character(&at, end, &character))
        return false;
      if (character >= 0x10000) {
        to = put_unit(to, 0xd800 + ((character - 0x10000) >> 10));
        character = 0xdc00 + (character & 0x3ff);
      }
      to = put_unit(to, character);
    }
    md4_update(&context, (size_t)(to - units), units);
  }
  DIGEST(md4, &context, MD4_DIGEST_SIZE, digest);
  return true;
}

/* Computes a digest of raw bytes and returns its size, or 0 if the text is malformed. */
static size_t compute(uint32_t digest, lanebloom_slice text, uint8_t *to)
{
  union {
    struct md5_ctx md5;
    struct sha1_ctx sha1;
    struct sha256_ctx sha256;
  } context;
  switch (digest) {
  case LANEBLOOM_KEY_MD5:
    md5_init(&context.md5);
    md5_update(&context.md5, text.size, text.data);
    DIGEST(md5, &context.md5, MD5_DIGEST_SIZE, to);
    return MD5_DIGEST_SIZE;
  case LANEBLOOM_KEY_SHA1:
    sha1_init(&context.sha1);
    sha1_update(&context.sha1, text.size, text.data);
    DIGEST(sha1, &context.sha1, SHA1_DIGEST_SIZE, to);
    return SHA1_DIGEST_SIZE;
  case LANEBLOOM_KEY_SHA256:
    sha256_init(&context.sha256);
    sha256_update(&context.sha256, text.size, text.data);
    DIGEST(sha256, &context.sha256, SHA256_DIGEST_SIZE, to);
    return SHA256_DIGEST_SIZE;
  default:
    return digest_ntlm(text, to) ? MD4_DIGEST_SIZE : 0;
  }
}

uint8_t *digest_text(uint32_t flags, lanebloom_slice text, uint8_t *to)
{
  uint8_t digest[MAX_DIGEST_NBYTES];
  const size_t nbytes = compute(flags & LANEBLOOM_KEY_DIGEST, text, digest);
  if (nbytes == 0)
    return NULL;
  if (!(flags & (LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX))) {
    memcpy(to, digest, nbytes);
    return to + nbytes;
  }
  const char *digits = flags & LANEBLOOM_KEY_UPPER_HEX ? "0123456789ABCDEF" : "0123456789abcdef";
  for (size_t i = 0; i < nbytes; i++) {
    *to++ = (uint8_t)digits[digest[i] >> 4];
    *to++ = (uint8_t)digits[digest[i] & 15];
  }
  return to;
}
