/* Reads the bytes of a file of keys, and copies the keys if they are not whole records.
 * SPDX-License-Identifier: MIT */
#include "key_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../base/json_object.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../input/file_kinds.h"
#include "../input/inputs.h"
#include "../input/key_form.h"
#include "../input/records.h"
#include "../system/files.h"

/* Makes room for n more bytes and returns their address. */
static char *reserve(struct buffer *buffer, size_t n)
{
  if (n > buffer->memory.nbytes - buffer->nbytes) {
    struct memory larger = lanebloom_memory_create(2 * (uint64_t)buffer->memory.nbytes + n);
    if (!larger.bytes)
      die(NULL, "%s", strerror(ENOMEM));
    if (buffer->nbytes > 0)
      memcpy(larger.bytes, buffer->data, buffer->nbytes);
    lanebloom_memory_free(&buffer->memory);
    buffer->memory = larger;
    buffer->data = (char *)larger.bytes;
  }
  return buffer->data + buffer->nbytes;
}

static size_t room(const struct buffer *buffer)
{
  return buffer->memory.nbytes - buffer->nbytes;
}

/* Reads all bytes of a file or a pipe. */
static void read_all(struct buffer *buffer, const char *path)
{
  const int fd = is_standard_input(path) ? STANDARD_INPUT : lanebloom_system_open(path, true);
  struct system_info found;
  if (fd < 0 || !lanebloom_system_file_info(fd, &found))
    die(input_name(path), "%s", strerror(errno));
  const uint64_t nbytes = found.kind == SYSTEM_FILE ? found.nbytes : 0;
  reserve(buffer, nbytes > 0 ? (size_t)nbytes + 1 : (size_t)1 << 20);
  for (int64_t n = 1; n != 0;) {
    char *end = reserve(buffer, 1);
    n = lanebloom_system_read(fd, end, room(buffer));
    if (n < 0)
      die(input_name(path), "%s%s", strerror(errno), directory_advice(errno));
    buffer->nbytes += (size_t)n;
  }
  if (has_shrunk(fd, nbytes))
    die(input_name(path), "%s", shrunk_text);
  if (fd != STANDARD_INPUT)
    lanebloom_system_close(fd);
}

static void replace_keys(struct key_set *set, struct buffer keys)
{
  lanebloom_memory_free(&set->keys.memory);
  set->keys = keys;
}

/* Replaces the bytes of the file, which are compressed, by the decompressed bytes. */
static void decompress_all(struct key_set *set, const char *path, enum codec codec)
{
  struct codec_error error;
  struct codec_step step = {.in = set->keys.data, .nin = set->keys.nbytes};
  struct decoder *decoder = decoder_create(codec);
  struct buffer keys = {0};
  if (!decoder)
    die(input_name(path), "%s", strerror(ENOMEM));
  do {
    step.out = reserve(&keys, (size_t)1 << 20);
    step.nout = room(&keys);
    if (!decoder_run(decoder, &step, &error))
      die(input_name(path), "%s", error.text);
    keys.nbytes = keys.memory.nbytes - step.nout;
  } while (step.nout == 0);
  if (!decoder_end(decoder, &error))
    die(input_name(path), "%s", error.text);
  decoder_destroy(decoder);
  replace_keys(set, keys);
}

/* Decompresses the file if it is compressed. If its content cannot be keys, prints a message and
 * exits. */
static void decompress(struct key_set *set, const char *path, const struct input_messages *messages)
{
  const bool is_text = set->syntax.width == 0, decompresses = does_decompress(&set->syntax);
  const struct file_kind *kind = find_file_kind(set->keys.data, set->keys.nbytes);
  if (is_text && kind && is_stump(kind, set->keys.nbytes))
    die(input_name(path), STUMP_TEXT, kind->name, set->keys.nbytes);
  kind = find_whole_file_kind(set->keys.data, set->keys.nbytes);
  if (kind && kind->codec && decompresses && codec_is_built(kind->codec)) {
    decompress_all(set, path, kind->codec);
    kind = find_whole_file_kind(set->keys.data, set->keys.nbytes);
  }
  if (!kind || may_be_records(&set->syntax, kind))
    return;
  char text[200];
  describe_file_kind(kind, messages, text, sizeof text);
  die(input_name(path), "%s", text);
}

/* ---- Keys of fields ---- */

/* Adds a terminator if the last record has none. */
static void complete_tail(struct key_set *set)
{
  if (set->keys.nbytes == 0 || set->keys.data[set->keys.nbytes - 1] == set->syntax.terminator)
    return;
  *reserve(&set->keys, 1) = set->syntax.terminator;
  set->keys.nbytes++;
}

/* Finds the named fields in the header. Returns the size of the header. If a field is missing,
 * prints a message and exits. */
static size_t read_header(struct key_set *set, const char *path)
{
  char problem[320] = "expected a header, found none";
  if (set->keys.nbytes == 0)
    die(input_name(path), "expected a header, found an empty input");
  const size_t nbytes = record_nbytes(&set->syntax, set->keys.data, set->keys.nbytes);
  const char *end = memchr(set->keys.data, set->syntax.terminator, set->keys.nbytes);
  const size_t found_nbytes = nbytes > 0 ? nbytes - 1 : (size_t)(end - set->keys.data);
  if (!find_fields(&set->syntax.fields, set->keys.data, found_nbytes, problem, sizeof problem) ||
      nbytes == 0)
    die(input_name(path), "%s", problem);
  return nbytes;
}

static void append(struct buffer *packed, const void *data, size_t nbytes)
{
  memcpy(reserve(packed, nbytes), data, nbytes);
  packed->nbytes += nbytes;
}

static void pack_batch(struct buffer *packed, const struct batch *batch)
{
  for (size_t i = 0; i < batch->n; i++) {
    if (!batch_has_key(batch, i))
      continue;
    const lanebloom_slice key = batch_key(batch, i);
    append(packed, &key.size, sizeof key.size);
    append(packed, key.data, key.size);
  }
}

/* Cuts the records, copies their keys, and frees the records. If a record has a fault, prints a
 * message and exits. */
static void pack_keys(struct key_set *set, const char *path)
{
  static struct cutter cutter;
  struct buffer packed = {0};
  complete_tail(set);
  const size_t header_nbytes = has_header(&set->syntax.fields) ? read_header(set, path) : 0;
  const uint64_t header_nlines = count_lines(set->keys.data, header_nbytes);
  cutter_begin(&cutter, &set->syntax, set->keys.data + header_nbytes,
               set->keys.nbytes - header_nbytes, header_nbytes == 0);
  for (struct batch batch; cutter_next(&cutter, &batch);)
    pack_batch(&packed, &batch);
  if (cutter.fault.kind) {
    char text[200];
    describe_fault(&cutter, text, sizeof text);
    die(input_name(path), "line %" PRIu64 ": %s", header_nlines + cutter.fault.line, text);
  }
  if (cutter.nmissing > 0)
    complain(input_name(path), "%zu of %zu records %s: dropped (--missing)", cutter.nmissing,
             cutter.nrecords, missing_text(&set->syntax));
  set->returns = cutter.returns;
  cutter_end(&cutter);
  set->is_packed = true;
  replace_keys(set, packed);
}

void read_key_file(struct key_set *set, const char *path, const struct input_messages *messages)
{
  read_all(&set->keys, path);
  decompress(set, path, messages);
  if (has_lone_return(&set->syntax.fields, set->keys.data, set->keys.nbytes))
    die(input_name(path), LONE_RETURN_TEXT);
  if (is_line_of_returns(&set->syntax, set->keys.data, set->keys.nbytes))
    die(input_name(path), LINE_OF_RETURNS_TEXT);
  if (have_nuls(&set->syntax, set->keys.data, set->keys.nbytes))
    complain(input_name(path), NULS_TEXT);
  if (set->syntax.width && set->keys.nbytes % set->syntax.width)
    die(input_name(path), "expected records of %zu bytes, found %zu bytes after the last one",
        set->syntax.width, set->keys.nbytes % set->syntax.width);
  if (set->syntax.fields.n > 0 || form_converts(set->syntax.form))
    pack_keys(set, path);
}
