/* Decodes bytes that are written as hexadecimal digits, as UUIDs or as base64.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_ENCODED_BYTES_H
#define LANEBLOOM_CLI_ENCODED_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

/* Decode text, write the bytes at `to', and return the end of the bytes. Return NULL if the text is
 * malformed. There must be room for as many bytes as the text has. `to' may be the beginning of the
 * text. A UUID has 32 hexadecimal digits, and four hyphens at the standard places, or none. */
uint8_t *decode_hex(const uint8_t *text, size_t nbytes, uint8_t *to);
uint8_t *decode_uuid(const uint8_t *text, size_t nbytes, uint8_t *to);
uint8_t *decode_base64(const uint8_t *text, size_t nbytes, uint8_t *to);

/* Returns the index of the first byte that is no hexadecimal digit, or the size if there is
 * none. */
size_t count_hex_digits(lanebloom_slice text);

/* Returns the index of the first byte that is neither a base64 character nor padding at the end, or
 * the size if there is none. */
size_t count_base64_characters(lanebloom_slice text);

#endif
