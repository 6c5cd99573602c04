/* Reads inputs in chunks. The records of a chunk are used where they were read. Only the incomplete
 * record at the end of a chunk is copied into the next chunk.
 * SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/find_last.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../system/files.h"
#include "claims.h"
#include "decompress.h"
#include "file_kinds.h"
#include "records.h"

const char shrunk_text[] = "truncated: the file became shorter while it was read";

static const char *const standard_input[] = {"-"};

void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct system_info *target)
{
  if (npaths == 0 && is_terminal(STANDARD_INPUT) && is_terminal(STANDARD_ERROR))
    complain(NULL, "reading records from the terminal until its end of file (Ctrl-D)");
  inputs->messages = *messages;
  inputs->syntax = *syntax;
  inputs->paths = npaths ? paths : (char *const *)standard_input;
  inputs->npaths = npaths ? npaths : 1;
  inputs->target = target && target->kind == SYSTEM_FILE ? *target : (struct system_info){0};
  inputs->fd = -1;
  inputs->read_nbytes = READ_NBYTES;
}

uint64_t inputs_nbytes(const struct inputs *inputs)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < inputs->npaths; i++) {
    const char *path = inputs->paths[i];
    struct system_info input;
    if (!(strcmp(path, "-") == 0 ? lanebloom_system_file_info(STANDARD_INPUT, &input)
                                 : lanebloom_system_info(path, &input)))
      continue; /* when the input is opened, the error is reported */
    if (input.kind != SYSTEM_FILE)
      return 0;
    nbytes += input.nbytes;
  }
  return nbytes;
}

static void close_input(struct inputs *inputs)
{
  decompressor_destroy(inputs->decompressor);
  inputs->decompressor = NULL;
  if (inputs->fd > STANDARD_INPUT)
    lanebloom_system_close(inputs->fd);
  inputs->fd = -1;
}

/* Closes the input and stores the message in the chunk. The chunk then has no records. */
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

static void fail_without_memory(struct inputs *inputs, struct chunk *chunk)
{
  fail(inputs, chunk, "%s", strerror(ENOMEM));
  chunk->is_fatal = true;
}

/* Is the input also the output? Reading such an input would never end, because it grows while it is
 * read. */
static bool is_target(const struct inputs *inputs, const struct system_info *input)
{
  return inputs->target.kind == SYSTEM_FILE && is_same_file(input, &inputs->target);
}

static void refuse(struct inputs *inputs, struct chunk *chunk, const struct file_kind *kind)
{
  char text[sizeof chunk->error];
  describe_file_kind(kind, &inputs->messages, text, sizeof text);
  fail(inputs, chunk, "%s", text);
  chunk->is_fatal = !kind->converter; /* a file that cannot be converted to records was probably
                                       * named by mistake, for example by a shell pattern that
                                       * matches filters */
}

static void open_input(struct inputs *inputs, struct chunk *chunk)
{
  const char *path = *inputs->paths++;
  inputs->npaths--;
  inputs->ncarried = 0;
  inputs->has_carriage_returns = false;
  inputs->needs_header = has_header(&inputs->syntax.fields);
  inputs->at_beginning = inputs->syntax.width == 0 || does_decompress(&inputs->syntax);
  inputs->name = chunk->name = input_name(path);
  inputs->input++;
  chunk->at_beginning = true;
  inputs->fd = strcmp(path, "-") == 0 ? STANDARD_INPUT : lanebloom_system_open(path, true);

  struct system_info input = {0};
  if (inputs->fd < 0 || !lanebloom_system_file_info(inputs->fd, &input))
    fail(inputs, chunk, "%s", strerror(errno));
  else if (is_target(inputs, &input))
    fail(inputs, chunk, "%s", also_output_text);
  else
    will_read_in_order(inputs->fd);
  inputs->nbytes = inputs->fd >= 0 && input.kind == SYSTEM_FILE ? input.nbytes : 0;
  const struct file_kind *kind;
  if (!find_file_kind_at_end(inputs->fd, inputs->nbytes, &kind))
    fail(inputs, chunk, "%s", strerror(errno));
  else if (kind && !may_be_records(&inputs->syntax, kind))
    refuse(inputs, chunk, kind);
}

/* The reported size must have become smaller, too, because a file in /sys always reports more bytes
 * than it has. */
bool has_shrunk(int fd, uint64_t nbytes)
{
  struct system_info now;
  uint64_t position;
  return nbytes > 0 && lanebloom_system_position(fd, &position) && position < nbytes &&
         lanebloom_system_file_info(fd, &now) && now.nbytes < nbytes;
}

/* ---- Files without records, and compressed files ---- */

/* Returns the kind of file that begins with the bytes of the chunk, or NULL if they are records.
 * Decompressed data are checked, too, because they may be compressed again or be a container. */
static const struct file_kind *input_kind(const struct inputs *inputs, const struct chunk *chunk)
{
  const struct file_kind *kind =
      inputs->at_beginning ? find_file_kind(chunk->data, chunk->nbytes) : NULL;
  const bool is_known =
      kind && (!may_be_records(&inputs->syntax, kind) || (kind->codec && !inputs->decompressor));
  return is_known ? kind : NULL;
}

/* Starts to decompress the input. The chunk holds its first bytes. */
static bool decompress(struct inputs *inputs, struct chunk *chunk, const struct file_kind *kind)
{
  if (!does_decompress(&inputs->syntax) || !codec_is_built(kind->codec) || inputs->decompressor) {
    refuse(inputs, chunk, kind);
    return false;
  }
  inputs->decompressor = decompressor_create(kind->codec, inputs->fd, chunk->data, chunk->nbytes);
  if (!inputs->decompressor && errno == ENOMEM)
    fail_without_memory(inputs, chunk);
  else if (!inputs->decompressor)
    fail(inputs, chunk, "%s", strerror(errno));
  chunk->nbytes = 0;
  return inputs->decompressor != NULL;
}

/* If the whole input is no more than the first bytes of compressed data, reports that the input is
 * truncated. Without this check the bytes would be taken for a line. */
static void refuse_stump(struct inputs *inputs, struct chunk *chunk)
{
  const struct file_kind *kind = input_kind(inputs, chunk);
  if (inputs->syntax.width == 0 && kind && is_stump(kind, chunk->nbytes))
    fail(inputs, chunk, STUMP_TEXT, kind->name, chunk->nbytes);
}

/* ---- Chunks ---- */

/* Appends decompressed bytes to the chunk. Returns the same values as read_file(). */
static int64_t read_decompressed(struct inputs *inputs, struct chunk *chunk)
{
  struct codec_error error;
  size_t nread;
  const int64_t n =
      decompressor_read(inputs->decompressor, chunk->data + chunk->nbytes, &nread, &error);
  if (n < 0)
    fail(inputs, chunk, "%s", error.text);
  chunk->is_fatal = n < 0 && error.is_out_of_memory;
  chunk->nread += nread;
  return n;
}

/* Reads more bytes of the input and appends them to the chunk. Returns how many bytes were read, 0
 * at the end of the input, or -1 after an error. As long as the kind of the input is unknown, the
 * chunk holds only the first bytes of the input, and this reads only the rest of the first
 * READ_NBYTES bytes. */
static int64_t read_file(struct inputs *inputs, struct chunk *chunk)
{
  const size_t wanted = inputs->at_beginning ? READ_NBYTES - chunk->nbytes : inputs->read_nbytes;
  const int64_t n = lanebloom_system_read(inputs->fd, chunk->data + chunk->nbytes, wanted);
  if (n < 0)
    fail(inputs, chunk, "%s%s", strerror(errno), directory_advice(errno));
  chunk->nread += n > 0 ? (uint64_t)n : 0;
  return n;
}

/* Reads once more into the chunk. Returns false at the end of the input and after an error. */
static bool read_more(struct inputs *inputs, struct chunk *chunk, size_t *nread)
{
  const size_t nused = (size_t)(chunk->data - chunk->buffer) + chunk->nbytes;
  if (chunk->capacity - nused < inputs->read_nbytes + CHUNK_PADDING_NBYTES && !chunk_grow(chunk)) {
    fail_without_memory(inputs, chunk);
    return false;
  }
  const int64_t n = (inputs->decompressor ? read_decompressed : read_file)(inputs, chunk);
  if (n <= 0)
    return false;
  *nread = (size_t)n;
  chunk->nbytes += *nread;
  return true;
}

/* Makes a record of the bytes after the last terminator when the input ends: adds the terminator,
 * and before it a carriage return if the previous records have one. Stores an error if the file has
 * become shorter, or if the bytes are part of a record of fixed width. */
static void complete_tail(struct inputs *inputs, struct chunk *chunk)
{
  const size_t width = inputs->syntax.width;
  if (has_shrunk(inputs->fd, inputs->nbytes))
    fail(inputs, chunk, "%s", shrunk_text);
  else if (width && chunk->nbytes % width)
    fail(inputs, chunk, "expected records of %zu bytes, found %zu bytes after the last one", width,
         chunk->nbytes % width);
  if (*chunk->error || chunk->nbytes == 0 || width)
    return;
  if (inputs->has_carriage_returns && chunk->data[chunk->nbytes - 1] != '\r')
    chunk->data[chunk->nbytes++] = '\r'; /* there is room, because the last read returned 0 bytes */
  chunk->data[chunk->nbytes++] = inputs->syntax.terminator;
}

/* ---- Headers ---- */

/* Excludes a byte order mark and the line end from a header. Returns the size of the rest, and
 * moves *header to the beginning of the rest. */
static size_t trim_header(const char **header, size_t nbytes)
{
  const size_t bom_nbytes = count_bom(*header, nbytes);
  *header += bom_nbytes;
  nbytes -= bom_nbytes + 1;
  return nbytes - (nbytes > 0 && (*header)[nbytes - 1] == '\r');
}

static void keep_header(struct inputs *inputs, struct chunk *chunk, size_t nbytes)
{
  char problem[sizeof chunk->error];
  if (!find_fields(&inputs->syntax.fields, chunk->data, nbytes - 1, problem, sizeof problem)) {
    const char *advice = inputs->messages.header_advice;
    fail(inputs, chunk, "%s%s", problem, advice ? advice : "");
    return;
  }
  inputs->header = malloc(nbytes);
  if (!inputs->header) {
    fail_without_memory(inputs, chunk);
    return;
  }
  memcpy(inputs->header, chunk->data, nbytes);
  inputs->header_nbytes = nbytes;
  chunk->header = inputs->header;
  chunk->header_nbytes = nbytes;
}

static void compare_header(struct inputs *inputs, struct chunk *chunk, size_t nbytes)
{
  const char *first = inputs->header, *second = chunk->data;
  const size_t first_nbytes = trim_header(&first, inputs->header_nbytes);
  const size_t second_nbytes = trim_header(&second, nbytes);
  if (first_nbytes == second_nbytes && memcmp(first, second, first_nbytes) == 0)
    return;
  char *expected = escape_word(first, first_nbytes, 40),
       *found = escape_word(second, second_nbytes, 40);
  fail(inputs, chunk, "expected the header of the first input, %s, found %s", expected, found);
  free(expected);
  free(found);
}

/* Reports a header that has no end because a quote is missing or misplaced. */
static void refuse_header(struct inputs *inputs, struct chunk *chunk)
{
  char problem[sizeof chunk->error] = "expected a header, found none";
  const char *end = memchr(chunk->data, '\n', chunk->nbytes);
  find_fields(&inputs->syntax.fields, chunk->data, (size_t)(end - chunk->data), problem,
              sizeof problem);
  fail(inputs, chunk, "%s", problem);
}

/* Removes the header from the beginning of the chunk. The first header is kept, and each later one
 * is compared with it. */
static void take_header(struct inputs *inputs, struct chunk *chunk)
{
  const size_t nbytes = record_nbytes(&inputs->syntax, chunk->data, chunk->nbytes);
  inputs->needs_header = false;
  if (chunk->nbytes == 0)
    fail(inputs, chunk, "expected a header, found an empty input");
  else if (nbytes == 0)
    refuse_header(inputs, chunk);
  else if (inputs->header)
    compare_header(inputs, chunk, nbytes);
  else
    keep_header(inputs, chunk, nbytes);
  if (*chunk->error)
    return;
  chunk->header_nlines = count_lines(chunk->data, nbytes);
  chunk->data += nbytes;
  chunk->nbytes -= nbytes;
}

/* ---- Filling ---- */

/* If the first record of an input arrives in pieces, each piece may tell the kind of the input. The
 * bytes are checked again after each piece until there are this many. */
enum { FIRST_NBYTES = READ_NBYTES < 8192 ? READ_NBYTES / 2 : 4096 };

/* Looks for a fault in a chunk that has no whole record. After a misplaced quote, all line ends
 * seem to be inside a field, and the chunk would grow to the end of the input. If the cutter finds
 * such a fault, returns how many bytes to deliver, so that the fault is reported now. Otherwise
 * returns 0. */
static size_t faulty_nbytes(struct inputs *inputs, const struct chunk *chunk)
{
  const char *last = find_last(chunk->data, inputs->syntax.terminator, chunk->nbytes);
  if (!has_quotes(&inputs->syntax.fields) || !last)
    return 0;
  struct record_syntax syntax = inputs->syntax;
  syntax.fields.n = 1; /* the key is one field that no record has, so the cutter makes no keys */
  syntax.fields.fields[0] = (struct field){.number = SIZE_MAX - 1};
  syntax.fields.missing = MISSING_DROP;
  syntax.form = (lanebloom_key_form){0};
  const size_t nbytes = (size_t)(last + 1 - chunk->data);
  cutter_begin(&inputs->checker, &syntax, chunk->data, nbytes, chunk->at_beginning);
  for (struct batch batch; cutter_next(&inputs->checker, &batch);)
    ;
  const enum fault_kind kind = inputs->checker.fault.kind;
  return kind == FAULT_QUOTE || kind == FAULT_AFTER ? nbytes : 0;
}

/* Stores the incomplete record at the end of a chunk for the next chunk. Returns false if memory
 * ran out. */
static bool carry(struct inputs *inputs, const char *data, size_t nbytes)
{
  if (nbytes > 0 && !inputs->carried && !(inputs->carried = malloc(inputs->read_nbytes)))
    return false;
  if (nbytes > 0)
    memcpy(inputs->carried, data, nbytes);
  inputs->ncarried = nbytes;
  return true;
}

/* Fills the chunk with records of the open input. Closes the input when it has ended. */
static void fill(struct inputs *inputs, struct chunk *chunk)
{
  const struct record_syntax *syntax = &inputs->syntax;
  chunk->name = inputs->name;
  chunk->data = chunk->buffer + inputs->read_nbytes - inputs->ncarried;
  chunk->nbytes = inputs->ncarried;
  if (inputs->ncarried > 0)
    memcpy(chunk->data, inputs->carried, inputs->ncarried);
  bool odd_quotes = has_odd_quotes(&syntax->fields, chunk->data, chunk->nbytes);
  size_t check_nbytes = READ_NBYTES; /* doubles after each check, so the total time of the checks is
                                      * linear */

  for (size_t nread; read_more(inputs, chunk, &nread);) {
    const struct file_kind *kind = input_kind(inputs, chunk);
    odd_quotes ^= has_odd_quotes(&syntax->fields, chunk->data + chunk->nbytes - nread, nread);
    if (kind && chunk->nbytes < kind->nbytes)
      continue;
    if (kind) {
      if (!decompress(inputs, chunk, kind))
        return;
      odd_quotes = false;
      continue;
    }
    if (inputs->at_beginning && has_lone_return(&syntax->fields, chunk->data, chunk->nbytes)) {
      fail(inputs, chunk, LONE_RETURN_TEXT);
      return;
    }
    size_t nwhole = whole_nbytes(syntax, chunk->data, chunk->nbytes, nread, odd_quotes);
    inputs->at_beginning &= nwhole == 0 && chunk->nbytes < FIRST_NBYTES;
    bool is_faulty = false;
    if (nwhole == 0 && chunk->nbytes >= check_nbytes) {
      nwhole = faulty_nbytes(inputs, chunk);
      is_faulty = nwhole > 0;
      check_nbytes = 2 * chunk->nbytes;
    }
    if (nwhole > 0) {
      chunk->has_nuls = chunk->at_beginning && have_nuls(syntax, chunk->data, chunk->nbytes);
      const size_t nleft = is_faulty ? 0 : chunk->nbytes - nwhole; /* after a fault, nothing more is
                                                                    * read */
      if (!carry(inputs, chunk->data + nwhole, nleft)) {
        fail_without_memory(inputs, chunk);
        return;
      }
      chunk->nbytes = nwhole;
      inputs->has_carriage_returns = syntax->crlf && nwhole > 1 && chunk->data[nwhole - 2] == '\r';
      if (inputs->needs_header)
        take_header(inputs, chunk);
      return;
    }
  }
  if (*chunk->error)
    return;
  refuse_stump(inputs, chunk);
  if (chunk->at_beginning && is_line_of_returns(syntax, chunk->data, chunk->nbytes))
    fail(inputs, chunk, LINE_OF_RETURNS_TEXT);
  chunk->has_nuls = chunk->at_beginning && have_nuls(syntax, chunk->data, chunk->nbytes);
  if (!*chunk->error)
    complete_tail(inputs, chunk);
  if (inputs->needs_header && !*chunk->error)
    take_header(inputs, chunk);
  close_input(inputs);
}

/* ---- The next chunk ---- */

bool inputs_next(struct inputs *inputs, struct chunk *chunk)
{
  chunk_reset(chunk);
  if (inputs->fd >= 0 && inputs->input == inputs->failed_input)
    close_input(inputs);
  while (chunk->nbytes == 0 && !*chunk->error && !chunk->header) {
    if (inputs->fd >= 0 && !claim(inputs, chunk))
      fill(inputs, chunk);
    else if (inputs->fd < 0 && inputs->npaths > 0)
      open_input(inputs, chunk);
    else if (inputs->fd < 0)
      return false;
  }
  chunk->input = inputs->input;
  return true;
}

bool inputs_continue(struct inputs *inputs, const struct chunk *chunk)
{
  if (chunk->input == inputs->failed_input)
    return false;
  if (*chunk->error)
    inputs->failed_input = chunk->input;
  return true;
}

void inputs_end(struct inputs *inputs)
{
  free(inputs->header);
  free(inputs->carried);
  inputs->header = inputs->carried = NULL;
}
