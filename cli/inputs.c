/* Reads inputs in chunks. The records of a chunk are not copied. Only an incomplete record at its
 * end is, to the next chunk.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "inputs.h"

/* First half: bytes that were carried over from the chunk before. Second half: for read(2). */
static const size_t BUFFER_NBYTES = (size_t)2 * READ_NBYTES;

bool chunk_create(struct chunk *chunk)
{
  *chunk = (struct chunk){.buffer = malloc(BUFFER_NBYTES), .capacity = BUFFER_NBYTES};
  return chunk->buffer != NULL;
}

void chunk_destroy(struct chunk *chunk)
{
  free(chunk->buffer);
  *chunk = (struct chunk){0};
}

/* Empties the chunk. If the buffer grew for a long record and the last chunk did not need that
 * much, it shrinks. */
static void chunk_reset(struct chunk *chunk)
{
  const size_t nused = chunk->data ? (size_t)(chunk->data - chunk->buffer) + chunk->nbytes : 0;
  if (chunk->capacity > BUFFER_NBYTES && nused <= BUFFER_NBYTES) {
    char *smaller = realloc(chunk->buffer, BUFFER_NBYTES);
    if (smaller) {
      chunk->buffer = smaller;
      chunk->capacity = BUFFER_NBYTES;
    }
  }
  chunk->data = chunk->buffer + READ_NBYTES;
  chunk->nbytes = 0;
  chunk->error[0] = '\0';
  chunk->is_out_of_memory = false;
}

static bool chunk_grow(struct chunk *chunk)
{
  char *larger =
      chunk->capacity <= PTRDIFF_MAX / 2 ? realloc(chunk->buffer, 2 * chunk->capacity) : NULL;
  if (!larger)
    return false;
  chunk->data = larger + (chunk->data - chunk->buffer);
  chunk->buffer = larger;
  chunk->capacity *= 2;
  return true;
}

static const char *const standard_input[] = {"-"};

void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct stat *target)
{
  inputs->messages = *messages;
  inputs->syntax = *syntax;
  inputs->paths = npaths ? paths : (char *const *)standard_input;
  inputs->npaths = npaths ? npaths : 1;
  inputs->target = target && S_ISREG(target->st_mode) ? *target : (struct stat){0};
  inputs->fd = -1;
}

static void close_input(struct inputs *inputs)
{
  if (inputs->fd > STDIN_FILENO)
    close(inputs->fd);
  inputs->fd = -1;
}

/* Closes the input and puts the message into its chunk. */
__attribute__((format(printf, 3, 4))) static void fail(struct inputs *inputs, struct chunk *chunk,
                                                       const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(chunk->error, sizeof chunk->error, format, arguments);
  va_end(arguments);
  chunk->nbytes = 0;
  close_input(inputs);
}

/* An input that is also the output would grow while it is read, without end. */
static bool is_target(const struct inputs *inputs, const struct stat *input)
{
  return S_ISREG(inputs->target.st_mode) && is_same_file(input, &inputs->target);
}

static void open_input(struct inputs *inputs, struct chunk *chunk)
{
  const char *path = *inputs->paths++;
  inputs->npaths--;
  inputs->ncarried = 0;
  inputs->at_beginning = inputs->syntax.width == 0; /* fixed-width keys may begin with any bytes */
  inputs->name = chunk->name = input_name(path);
  inputs->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

  struct stat input = {0};
  if (inputs->fd < 0 || fstat(inputs->fd, &input) < 0)
    fail(inputs, chunk, "%s", strerror(errno));
  else if (is_target(inputs, &input))
    fail(inputs, chunk, "input file is also the output");
  else
    posix_fadvise(inputs->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  inputs->nbytes = inputs->fd >= 0 && S_ISREG(input.st_mode) ? input.st_size : 0;
}

/* Did the file become shorter after it was opened? Its size now is compared, too: files in /sys
 * report more bytes than they have, before and after. */
static bool has_shrunk(const struct inputs *inputs)
{
  struct stat now;
  return inputs->nbytes > 0 && lseek(inputs->fd, 0, SEEK_CUR) < inputs->nbytes &&
         fstat(inputs->fd, &now) == 0 && now.st_size < inputs->nbytes;
}

/* ---- Files that are not records ---- */

/* The first bytes of files that are not records; records are unlikely to begin with them. None
 * contains a terminator, so they are all read before the first record is complete. */
static const struct file_kind {
  const char *name;
  size_t nbytes;
  char magic[10];
  const char *decompressor; /* NULL: a container */
} file_kinds[] = {
    {"a lanebloom container", 4, {'\x89', 'L', 'B', 'F'}, NULL},
    {"gzip data", 3, {'\x1f', '\x8b', '\x08'}, "zcat"},
    {"zstd data", 4, {'\x28', '\xb5', '\x2f', '\xfd'}, "zstdcat"},
    {"xz data", 5, {'\xfd', '7', 'z', 'X', 'Z'}, "xzcat"},
    /* as `bzip2' writes it without options: other levels are not worth nine rows */
    {"bzip2 data", 10, {'B', 'Z', 'h', '9', '1', 'A', 'Y', '&', 'S', 'Y'}, "bzcat"},
};

/* The kind of file that begins with these bytes, or may begin with them if they are too few; NULL:
 * records. */
static const struct file_kind *find_kind(const char *bytes, size_t nbytes)
{
  for (size_t i = 0; i < sizeof file_kinds / sizeof *file_kinds; i++) {
    const struct file_kind *kind = &file_kinds[i];
    if (memcmp(bytes, kind->magic, nbytes < kind->nbytes ? nbytes : kind->nbytes) == 0)
      return kind;
  }
  return NULL;
}

static void refuse(struct inputs *inputs, struct chunk *chunk, const struct file_kind *kind)
{
  const struct input_messages *messages = &inputs->messages;
  if (kind->decompressor)
    fail(inputs, chunk, "expected records, found %s: decompress it: %s FILE | lanebloom %s ...",
         kind->name, kind->decompressor, messages->verb);
  else
    fail(inputs, chunk, "expected records, found %s: %s", kind->name, messages->container_advice);
}

/* ---- Chunks ---- */

/* Reads once more into the chunk. False at the end of the input and after an error. */
static bool read_more(struct inputs *inputs, struct chunk *chunk, size_t *nread)
{
  if (chunk->capacity - (size_t)(chunk->data - chunk->buffer) - chunk->nbytes < READ_NBYTES &&
      !chunk_grow(chunk)) {
    fail(inputs, chunk, "%s", strerror(ENOMEM));
    chunk->is_out_of_memory = true;
    return false;
  }
  ssize_t n;
  do
    n = read(inputs->fd, chunk->data + chunk->nbytes, READ_NBYTES);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    fail(inputs, chunk, "%s", strerror(errno));
  if (n <= 0)
    return false;
  *nread = (size_t)n;
  chunk->nbytes += *nread;
  return true;
}

/* How many bytes of the chunk are whole records. No record ends before the last `nread` bytes. */
static size_t count_whole(const struct record_syntax *syntax, const struct chunk *chunk,
                          size_t nread)
{
  if (syntax->width)
    return chunk->nbytes - chunk->nbytes % syntax->width;
  const char *last = memrchr(chunk->data + chunk->nbytes - nread, syntax->terminator, nread);
  return last ? (size_t)(last + 1 - chunk->data) : 0;
}

/* Makes a record of the bytes after the last terminator, by adding one. */
static void complete_tail(struct inputs *inputs, struct chunk *chunk)
{
  const size_t width = inputs->syntax.width;
  if (has_shrunk(inputs))
    fail(inputs, chunk, "truncated: the file became shorter while it was read");
  else if (chunk->nbytes > 0 && width)
    fail(inputs, chunk, "expected records of %zu bytes, found %zu bytes after the last one", width,
         chunk->nbytes);
  else if (chunk->nbytes > 0)
    chunk->data[chunk->nbytes++] =
        inputs->syntax.terminator; /* room is left: the last read returned 0 bytes */
}

/* Fills the chunk from the open input, and closes the input at its end. */
static void fill(struct inputs *inputs, struct chunk *chunk)
{
  chunk->name = inputs->name;
  chunk->data -= inputs->ncarried;
  chunk->nbytes = inputs->ncarried;
  memcpy(chunk->data, inputs->carried, inputs->ncarried);

  for (size_t nread; read_more(inputs, chunk, &nread);) {
    const struct file_kind *kind =
        inputs->at_beginning ? find_kind(chunk->data, chunk->nbytes) : NULL;
    if (kind && chunk->nbytes < kind->nbytes)
      continue;
    if (kind) {
      refuse(inputs, chunk, kind);
      return;
    }
    inputs->at_beginning = false;
    const size_t nwhole = count_whole(&inputs->syntax, chunk, nread);
    if (nwhole > 0) {
      inputs->ncarried = chunk->nbytes - nwhole;
      memcpy(inputs->carried, chunk->data + nwhole, inputs->ncarried);
      chunk->nbytes = nwhole;
      return;
    }
  }
  if (*chunk->error)
    return;
  complete_tail(inputs, chunk);
  close_input(inputs);
}

bool inputs_next(struct inputs *inputs, struct chunk *chunk)
{
  chunk_reset(chunk);
  while (chunk->nbytes == 0 && !*chunk->error) {
    if (inputs->fd >= 0)
      fill(inputs, chunk);
    else if (inputs->npaths > 0)
      open_input(inputs, chunk);
    else
      return false;
  }
  return true;
}
