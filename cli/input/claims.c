/* Claims chunks of regular files, so that several workers can read one file at once.
 * SPDX-License-Identifier: MIT */
#include "claims.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/find_last.h"
#include "../system/files.h"

/* A chunk can be claimed only if a record ends in this many bytes at the end of the chunk. Longer
 * records are rare. */
enum { LAST_NBYTES = READ_NBYTES / 64 };

/* Returns how many of the inputs->read_nbytes bytes at this position are whole records. Returns 0
 * if no record ends in the last LAST_NBYTES of them. */
static size_t claimable_nbytes(const struct inputs *inputs, uint64_t position)
{
  char last[LAST_NBYTES];
  if (inputs->syntax.width)
    return inputs->read_nbytes - inputs->read_nbytes % inputs->syntax.width;
  if (lanebloom_system_read_at(inputs->fd, last, sizeof last,
                               position + inputs->read_nbytes - LAST_NBYTES) != sizeof last)
    return 0;
  const char *end = find_last(last, inputs->syntax.terminator, sizeof last);
  return end ? inputs->read_nbytes - LAST_NBYTES + (size_t)(end + 1 - last) : 0;
}

bool claim(struct inputs *inputs, struct chunk *chunk)
{
  if (inputs->nbytes == 0 || inputs->decompressor || inputs->at_beginning || inputs->needs_header ||
      has_quotes(&inputs->syntax.fields))
    return false;
  uint64_t position;
  if (!lanebloom_system_position(inputs->fd, &position))
    return false;
  position -= inputs->ncarried;
  if (inputs->nbytes < position + inputs->read_nbytes)
    return false;
  const size_t nbytes = claimable_nbytes(inputs, position);
  if (nbytes == 0 || (chunk->fd = lanebloom_system_duplicate(inputs->fd)) < 0)
    return false;
  set_file_position(inputs->fd, position + nbytes);
  inputs->ncarried = 0;
  chunk->name = inputs->name;
  chunk->position = position;
  chunk->nbytes = chunk->nread = nbytes;
  return true;
}

void inputs_load(const struct inputs *inputs, struct chunk *chunk)
{
  if (chunk->fd < 0)
    return;
  const struct record_syntax *syntax = &inputs->syntax; /* the header was read before any claim, so
                                                         * the syntax no longer changes */
  const int64_t nbytes = read_at(chunk->fd, chunk->data, chunk->nbytes, chunk->position);
  const char *error = nbytes < 0                       ? strerror(errno)
                      : (size_t)nbytes < chunk->nbytes ? shrunk_text
                      : !syntax->width && chunk->data[nbytes - 1] != syntax->terminator
                          ? "the file changed while it was read"
                          : "";
  lanebloom_system_close(chunk->fd);
  chunk->fd = -1;
  snprintf(chunk->error, sizeof chunk->error, "%s", error);
  if (*error)
    chunk->nbytes = 0;
}
