/* Characters of UTF-8 text.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CHARACTERS_H
#define LANEBLOOM_CLI_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character with which the bytes begin. Returns how many bytes it has, or 0 if they begin
 * with no character of Unicode. */
size_t read_character(const char *bytes, size_t nbytes, uint32_t *character);

/* Returns how many characters a valid text has. */
size_t count_characters(const char *text);

/* Are the bytes valid UTF-8, which JSON requires? */
bool is_text(const void *bytes, size_t nbytes);

#endif
