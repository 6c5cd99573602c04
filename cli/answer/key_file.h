/* Reads the bytes of a file of keys, and copies the keys if they are not whole records.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_FILE_H
#define LANEBLOOM_CLI_KEY_FILE_H

#include "../input/inputs.h"
#include "key_set.h"

/* Reads the keys of a file into `keys`, `is_packed` and `returns` of the set, whose syntax is given
 * and whose other members are zeroed. On any failure prints a message and exits. */
void read_key_file(struct key_set *set, const char *path, const struct input_messages *messages);

#endif
