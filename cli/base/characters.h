/* Characters of UTF-8 text.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_CHARACTERS_H
#define LANEBLOOM_CLI_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns how many characters a valid text has. */
size_t count_characters(const char *text);

/* Are the bytes valid UTF-8, which JSON requires? */
bool is_text(const void *bytes, size_t nbytes);

#endif
