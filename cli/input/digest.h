/* Computes digests of texts. digest_nettle.c does so by Nettle. digest_none.c is for builds without
 * Nettle, and computes nothing; a build has one of them.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_DIGEST_H
#define LANEBLOOM_CLI_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* The most bytes that a key has if it is a digest: the hexadecimal digits of a SHA-256. */
enum { DIGEST_KEY_NBYTES = 64 };

/* Can this build compute digests? */
bool has_digests(void);

/* Computes the digest that the flags of a key form name, writes it at `to` as bytes or as
 * hexadecimal digits, and returns its end. Returns NULL if the text is malformed, which only a text
 * for NTLM can be: it must be UTF-8. There must be room for DIGEST_KEY_NBYTES. `to` may be the
 * beginning of the text. Must not be called if has_digests() is false. */
uint8_t *digest_text(uint32_t flags, lanebloom_slice text, uint8_t *to);

/* Returns the index of the first byte that is not part of valid UTF-8, or the size if there is
 * none. */
size_t count_utf8(lanebloom_slice text);

#endif
