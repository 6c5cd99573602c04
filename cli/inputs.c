/* Reads inputs in pieces. Each piece is cut and screened where it was read. Only an incomplete
 * record at its end is copied, to the next piece.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "inputs.h"

/* The first half holds the incomplete record of the piece before; read(2) fills the second half. */
static const size_t BUFFER_NBYTES = (size_t)2 * READ_NBYTES;

bool piece_create(struct piece *piece)
{
  *piece = (struct piece){.buffer = malloc(BUFFER_NBYTES), .capacity = BUFFER_NBYTES};
  return piece->buffer != NULL;
}

void piece_destroy(struct piece *piece)
{
  free(piece->buffer);
  *piece = (struct piece){0};
}

/* Empties the piece. If the buffer grew for a long record and the last piece did not need that
 * much, it shrinks. */
static void piece_reset(struct piece *piece)
{
  const size_t nused = piece->data ? (size_t)(piece->data - piece->buffer) + piece->nbytes : 0;
  if (piece->capacity > BUFFER_NBYTES && nused <= BUFFER_NBYTES) {
    char *smaller = realloc(piece->buffer, BUFFER_NBYTES);
    if (smaller) {
      piece->buffer = smaller;
      piece->capacity = BUFFER_NBYTES;
    }
  }
  piece->data = piece->buffer + READ_NBYTES;
  piece->nbytes = 0;
  piece->complaint[0] = '\0';
  piece->is_out_of_memory = false;
}

static bool piece_grow(struct piece *piece)
{
  char *larger =
      piece->capacity <= PTRDIFF_MAX / 2 ? realloc(piece->buffer, 2 * piece->capacity) : NULL;
  if (!larger)
    return false;
  piece->data = larger + (piece->data - piece->buffer);
  piece->buffer = larger;
  piece->capacity *= 2;
  return true;
}

static const char *const standard_input[] = {"-"};

void inputs_begin(struct inputs *inputs, const struct reader *reader,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct stat *target)
{
  inputs->reader = *reader;
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

/* Closes the input and puts the message into its piece. */
__attribute__((format(printf, 3, 4))) static void fail(struct inputs *inputs, struct piece *piece,
                                                       const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(piece->complaint, sizeof piece->complaint, format, arguments);
  va_end(arguments);
  piece->nbytes = 0;
  close_input(inputs);
}

/* An input that is also the output would grow while it is read, without end. */
static bool is_target(const struct inputs *inputs, const struct stat *input)
{
  return S_ISREG(inputs->target.st_mode) && is_same_file(input, &inputs->target);
}

static void open_input(struct inputs *inputs, struct piece *piece)
{
  const char *path = *inputs->paths++;
  inputs->npaths--;
  inputs->ncarried = 0;
  inputs->at_beginning = inputs->syntax.width == 0; /* fixed-width keys may begin with any bytes */
  inputs->name = piece->name = input_name(path);
  inputs->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

  struct stat input = {0};
  if (inputs->fd < 0 || fstat(inputs->fd, &input) < 0)
    fail(inputs, piece, "%s", strerror(errno));
  else if (is_target(inputs, &input))
    fail(inputs, piece, "input file is also the output");
  else
    posix_fadvise(inputs->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  inputs->nbytes = inputs->fd >= 0 && S_ISREG(input.st_mode) ? input.st_size : 0;
}

/* Did the file become shorter after it was opened? The size now is compared too, because files in
 * /sys claim more bytes than they have. */
static bool has_shrunk(const struct inputs *inputs)
{
  struct stat now;
  return inputs->nbytes > 0 && lseek(inputs->fd, 0, SEEK_CUR) < inputs->nbytes &&
         fstat(inputs->fd, &now) == 0 && now.st_size < inputs->nbytes;
}

/* ---- Files that are not records ---- */

/* The first bytes of such files. Records are unlikely to begin with them. None contains a record
 * terminator, so a whole record never waits for more bytes before it is decided. */
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

/* The kind of file that begins with these bytes, or may begin with them if they are too few. */
static const struct file_kind *find_kind(const char *bytes, size_t nbytes)
{
  for (size_t i = 0; i < sizeof file_kinds / sizeof *file_kinds; i++) {
    const struct file_kind *kind = &file_kinds[i];
    if (memcmp(bytes, kind->magic, nbytes < kind->nbytes ? nbytes : kind->nbytes) == 0)
      return kind;
  }
  return NULL;
}

static void refuse(struct inputs *inputs, struct piece *piece, const struct file_kind *kind)
{
  const struct reader *reader = &inputs->reader;
  if (kind->decompressor)
    fail(inputs, piece, "expected records, found %s: decompress it: %s FILE | lanebloom %s ...",
         kind->name, kind->decompressor, reader->verb);
  else
    fail(inputs, piece, "expected records, found %s: %s", kind->name, reader->container_advice);
}

/* ---- Pieces ---- */

/* Reads once more into the piece. False at the end of the input and after an error. */
static bool read_more(struct inputs *inputs, struct piece *piece, size_t *nread)
{
  if (piece->capacity - (size_t)(piece->data - piece->buffer) - piece->nbytes < READ_NBYTES &&
      !piece_grow(piece)) {
    fail(inputs, piece, "%s", strerror(ENOMEM));
    piece->is_out_of_memory = true;
    return false;
  }
  ssize_t n;
  do
    n = read(inputs->fd, piece->data + piece->nbytes, READ_NBYTES);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    fail(inputs, piece, "%s", strerror(errno));
  if (n <= 0)
    return false;
  *nread = (size_t)n;
  piece->nbytes += *nread;
  return true;
}

/* How many bytes of the piece are whole records. No record ends before the last `nread` bytes. */
static size_t count_whole(const struct record_syntax *syntax, const struct piece *piece,
                          size_t nread)
{
  if (syntax->width)
    return piece->nbytes - piece->nbytes % syntax->width;
  const char *last = memrchr(piece->data + piece->nbytes - nread, syntax->terminator, nread);
  return last ? (size_t)(last + 1 - piece->data) : 0;
}

/* Bytes after the last terminator are a record too; its terminator is added. */
static void complete_tail(struct inputs *inputs, struct piece *piece)
{
  const size_t width = inputs->syntax.width;
  if (has_shrunk(inputs))
    fail(inputs, piece, "truncated: the file became shorter while it was read");
  else if (piece->nbytes > 0 && width)
    fail(inputs, piece, "expected records of %zu bytes, found %zu bytes after the last one", width,
         piece->nbytes);
  else if (piece->nbytes > 0)
    piece->data[piece->nbytes++] =
        inputs->syntax.terminator; /* the read that met the end had room */
}

/* Fills the piece from the open input, and closes the input at its end. */
static void fill(struct inputs *inputs, struct piece *piece)
{
  piece->name = inputs->name;
  piece->data -= inputs->ncarried;
  piece->nbytes = inputs->ncarried;
  memcpy(piece->data, inputs->carried, inputs->ncarried);

  for (size_t nread; read_more(inputs, piece, &nread);) {
    const struct file_kind *kind =
        inputs->at_beginning ? find_kind(piece->data, piece->nbytes) : NULL;
    if (kind && piece->nbytes < kind->nbytes)
      continue;
    if (kind) {
      refuse(inputs, piece, kind);
      return;
    }
    inputs->at_beginning = false;
    const size_t nwhole = count_whole(&inputs->syntax, piece, nread);
    if (nwhole > 0) {
      inputs->ncarried = piece->nbytes - nwhole;
      memcpy(inputs->carried, piece->data + nwhole, inputs->ncarried);
      piece->nbytes = nwhole;
      return;
    }
  }
  if (*piece->complaint)
    return;
  complete_tail(inputs, piece);
  close_input(inputs);
}

bool inputs_next(struct inputs *inputs, struct piece *piece)
{
  piece_reset(piece);
  while (piece->nbytes == 0 && !*piece->complaint) {
    if (inputs->fd >= 0)
      fill(inputs, piece);
    else if (inputs->npaths > 0)
      open_input(inputs, piece);
    else
      return false;
  }
  return true;
}
