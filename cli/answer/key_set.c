/* An exact set of keys. Its hash table uses open addressing and is at most two thirds full. The
 * hash function of the filter is public, so the table uses another function with a secret. Because
 * of the secret, an attacker cannot choose keys that share a slot. If a slot may match, the key
 * itself is compared, so the result is exact.
 * SPDX-License-Identifier: MIT */
#include "key_set.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "../../src/common/problem.h"
#include "../base/bits.h"
#include "../base/json_object.h"
#include "../base/paths.h"
#include "../base/report.h"
#include "../files/filters.h"
#include "../input/file_kinds.h"
#include "../input/inputs.h"
#include "../input/key_form.h"
#include "../input/records.h"

static const lanebloom_format KEY_FORMAT = LANEBLOOM_ROCKSDB_LOCAL;
enum { BITS_PER_KEY = 10 };

/* A slot is 0 if it is empty. Otherwise its lower 48 bits are the position of a key plus 1, and its
 * upper 16 bits are bits of the hash of this key. */
enum { POSITION_NBITS = 48 };
static const uint64_t POSITION_MASK = ((uint64_t)1 << POSITION_NBITS) - 1;

static uint64_t make_slot(uint64_t hash, size_t position)
{
  return hash << POSITION_NBITS | (position + 1);
}

static bool may_be(uint64_t slot, uint64_t hash)
{
  return slot >> POSITION_NBITS == (hash & 0xffff);
}

static size_t position_of(uint64_t slot)
{
  return (size_t)(slot & POSITION_MASK) - 1;
}

static uint64_t hash_key(const struct key_set *set, lanebloom_slice key)
{
  return XXH3_64bits_withSecret(key.data, key.size, set->secret, sizeof set->secret);
}

/* Returns the slot in which the search begins. It is the hash, scaled to the number of slots. */
static size_t first_slot(const struct key_set *set, uint64_t hash)
{
  return (size_t)((unsigned __int128)hash * set->nslots >> 64);
}

static size_t next_slot(const struct key_set *set, size_t slot)
{
  return slot + 1 < set->nslots ? slot + 1 : 0;
}

/* Returns the key that begins at this position of the keys. */
static lanebloom_slice key_at(const struct key_set *set, size_t position)
{
  const char *key = set->keys.data + position;
  if (set->is_packed) {
    size_t nbytes;
    memcpy(&nbytes, key - sizeof nbytes, sizeof nbytes);
    return (lanebloom_slice){key, nbytes};
  }
  if (set->syntax.width)
    return (lanebloom_slice){key, set->syntax.width};
  const size_t nleft = set->keys.nbytes - position;
  const char *end = memchr(key, set->syntax.terminator, nleft);
  size_t nbytes = end ? (size_t)(end - key) : nleft;
  nbytes -= set->syntax.crlf && nbytes > 0 && key[nbytes - 1] == '\r';
  return (lanebloom_slice){key, nbytes};
}

/* Returns the first slot, from this one on, that is empty or may refer to a key with this hash. */
static size_t find_candidate(const struct key_set *set, size_t slot, uint64_t hash)
{
  while (set->slots[slot] && !may_be(set->slots[slot], hash))
    slot = next_slot(set, slot);
  return slot;
}

/* Returns the slot that refers to the key. If there is none, returns the empty slot in which the
 * key belongs. The search begins in the slot that find_candidate() returned. */
static size_t find_slot(const struct key_set *set, size_t slot, uint64_t hash, lanebloom_slice key)
{
  for (; set->slots[slot]; slot = find_candidate(set, next_slot(set, slot), hash)) {
    const lanebloom_slice other = key_at(set, position_of(set->slots[slot]));
    if (other.size == key.size && memcmp(other.data, key.data, key.size) == 0)
      break;
  }
  return slot;
}

/* Adds the keys of a batch to the table and to the filter. The slots of the whole batch are
 * prefetched first, so that cache misses overlap. */
static void add_batch(struct key_set *set, lanebloom_builder *builder, const struct batch *batch)
{
  uint64_t hashes[BATCH_NRECORDS];
  for (size_t i = 0; i < batch->n; i++) {
    hashes[i] = hash_key(set, batch_key(batch, i));
    __builtin_prefetch(&set->slots[first_slot(set, hashes[i])], 1);
  }
  for (size_t i = 0; i < batch->n; i++) {
    const lanebloom_slice key = batch_key(batch, i);
    const size_t position = (size_t)((const char *)key.data - set->keys.data);
    const size_t candidate = find_candidate(set, first_slot(set, hashes[i]), hashes[i]);
    set->slots[find_slot(set, candidate, hashes[i], key)] = make_slot(hashes[i], position);
  }
  const lanebloom_status status = lanebloom_builder_add(builder, &batch->keys);
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
}

/* ---- Reading ---- */

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
  const int fd = is_standard_input(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  struct stat found;
  if (fd < 0 || fstat(fd, &found) != 0)
    die(input_name(path), "%s", strerror(errno));
  const off_t nbytes = S_ISREG(found.st_mode) ? found.st_size : 0;
  reserve(buffer, nbytes > 0 ? (size_t)nbytes + 1 : (size_t)1 << 20);
  for (ssize_t n = 1; n != 0;) {
    char *end = reserve(buffer, 1);
    n = read(fd, end, room(buffer));
    if (n < 0 && errno != EINTR)
      die(input_name(path), "%s%s", strerror(errno), directory_advice(errno));
    buffer->nbytes += n > 0 ? (size_t)n : 0;
  }
  if (has_shrunk(fd, nbytes))
    die(input_name(path), "%s", shrunk_text);
  if (fd != STDIN_FILENO)
    close(fd);
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

/* Makes a batch of the packed keys that begin at *position, and moves *position behind them.
 * Returns false if no keys are left. */
static bool cut_packed(const struct key_set *set, size_t *position, lanebloom_slice *keys,
                       struct batch *batch)
{
  size_t n = 0;
  for (; n < BATCH_NRECORDS && *position < set->keys.nbytes; n++) {
    keys[n] = key_at(set, *position + sizeof keys[n].size);
    *position += sizeof keys[n].size + keys[n].size;
  }
  *batch = (struct batch){.keys = lanebloom_keys_slices(keys, n), .n = n, .slices = keys};
  return n > 0;
}

static uint64_t add_packed(struct key_set *set, lanebloom_builder *builder)
{
  lanebloom_slice keys[BATCH_NRECORDS];
  struct batch batch;
  uint64_t nkeys = 0;
  for (size_t position = 0; cut_packed(set, &position, keys, &batch); nkeys += batch.n)
    if (builder)
      add_batch(set, builder, &batch);
  return nkeys;
}

/* ---- The table ---- */

/* If no terminator follows the last key, makes a batch of this key. Otherwise returns false. */
static bool cut_tail(const struct key_set *set, size_t nwhole, lanebloom_slice *key,
                     struct batch *batch)
{
  if (nwhole == set->keys.nbytes)
    return false;
  const bool has_bom = nwhole == 0 && may_have_bom(&set->syntax);
  *key = key_at(set, nwhole + (has_bom ? count_bom(set->keys.data, set->keys.nbytes) : 0));
  *batch = (struct batch){.keys = lanebloom_keys_slices(key, 1), .n = 1, .slices = key};
  return true;
}

/* Cuts the keys. If there is a builder, adds the keys to the table and the filter. Returns the
 * number of keys. */
static uint64_t cut_keys(struct key_set *set, lanebloom_builder *builder)
{
  static struct cutter cutter;
  if (set->is_packed)
    return add_packed(set, builder);
  const size_t nwhole =
      whole_nbytes(&set->syntax, set->keys.data, set->keys.nbytes, set->keys.nbytes, false);
  struct batch batch;
  lanebloom_slice tail;
  cutter_begin(&cutter, &set->syntax, set->keys.data, nwhole, true);
  while (cutter_next(&cutter, &batch))
    if (builder)
      add_batch(set, builder, &batch);
  set->returns = cutter.returns;
  const bool has_tail = cut_tail(set, nwhole, &tail, &batch);
  if (has_tail && builder)
    add_batch(set, builder, &batch);
  return cutter.nrecords + has_tail;
}

static void create_table(struct key_set *set, uint64_t nkeys, lanebloom_builder **builder)
{
  const uint64_t nslots = nkeys + nkeys / 2 + 1;
  char size[SIZE_TEXT_NBYTES];
  set->nslots = (size_t)nslots;
  if (nslots <= UINT64_MAX / sizeof *set->slots)
    set->table = lanebloom_memory_create(nslots * sizeof *set->slots);
  set->slots = (uint64_t *)(void *)set->table.bytes;
  const lanebloom_status status =
      lanebloom_builder_create(KEY_FORMAT, BITS_PER_KEY, nkeys, builder);
  if (!set->slots || status == LANEBLOOM_ERR_MEMORY)
    die(NULL,
        "out of memory: %" PRIu64
        " keys need about %s for their table and filter; `lanebloom build' "
        "makes only a filter, for `lanebloom screen'",
        nkeys,
        size_text(size, (double)nslots * sizeof *set->slots + (double)nkeys * BITS_PER_KEY / 8));
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
}

void key_set_read(struct key_set *set, const char *path, const struct record_syntax *syntax,
                  const struct input_messages *messages)
{
  *set = (struct key_set){.syntax = *syntax};
  if (getrandom(set->secret, sizeof set->secret, 0) != sizeof set->secret)
    die(NULL, "random bytes: %s", strerror(errno));
  read_all(&set->keys, path);
  decompress(set, path, messages);
  if (has_lone_return(&syntax->fields, set->keys.data, set->keys.nbytes))
    die(input_name(path), LONE_RETURN_TEXT);
  if (is_line_of_returns(syntax, set->keys.data, set->keys.nbytes))
    die(input_name(path), LINE_OF_RETURNS_TEXT);
  if (have_nuls(syntax, set->keys.data, set->keys.nbytes))
    complain(input_name(path), NULS_TEXT);
  if (syntax->width && set->keys.nbytes % syntax->width)
    die(input_name(path), "expected records of %zu bytes, found %zu bytes after the last one",
        syntax->width, set->keys.nbytes % syntax->width);
  if (syntax->fields.n > 0 || form_converts(syntax->form))
    pack_keys(set, path);
  if (set->keys.nbytes > POSITION_MASK)
    die(input_name(path), "expected at most 2^%d bytes of keys, found %zu", POSITION_NBITS,
        set->keys.nbytes);

  lanebloom_builder *builder;
  set->nkeys = cut_keys(set, NULL);
  if (set->nkeys == 0)
    complain(input_name(path), "warning: found no keys: no record matches");
  if (set->returns == RETURNS_SOME)
    complain(input_name(path), SOME_RETURNS_TEXT);
  create_table(set, set->nkeys, &builder);
  cut_keys(set, builder);
  const lanebloom_status status = lanebloom_builder_finish(builder, &set->filter);
  if (status != LANEBLOOM_OK)
    die(NULL, "%s", status_text(status));
  lanebloom_builder_free(builder);
}

bool key_set_begins_with_header(const struct key_set *set, const struct field_syntax *fields)
{
  struct field_syntax found = *fields;
  char problem[1];
  if (!has_header(fields) || set->is_packed || set->keys.nbytes == 0)
    return false;
  const char *end = memchr(set->keys.data, set->syntax.terminator, set->keys.nbytes);
  return end && find_fields(&found, set->keys.data, (size_t)(end - set->keys.data), problem,
                            sizeof problem);
}

/* If the keys are packed, the byte may also be found in the size of a key, so the result true may
 * be wrong. */
bool key_set_has_byte(const struct key_set *set, char byte)
{
  return memchr(set->keys.data, byte, set->keys.nbytes) != NULL;
}

void key_set_free(struct key_set *set)
{
  lanebloom_filter_free(set->filter);
  lanebloom_memory_free(&set->table);
  lanebloom_memory_free(&set->keys.memory);
}

/* ---- Queries ---- */

/* memchr() reads this many bytes at once, half of the time from two cache lines. */
enum { MEMCHR_NBYTES = 32 };

/* The keys that the filter passes are handled in three loops, so that cache misses overlap. The
 * first prefetches slots, the second finds the slots that may refer to the keys and prefetches what
 * they refer to, and the third compares keys. */
size_t key_set_match(const struct key_set *set, const struct batch *batch, uint8_t *bitmap)
{
  uint64_t hashes[BATCH_NRECORDS];
  size_t slots[BATCH_NRECORDS];
  uint16_t hits[BATCH_NRECORDS];
  size_t nhits = 0, nfound = 0;
  lanebloom_filter_screen(set->filter, &batch->keys, bitmap);
  for (size_t i = find_bit(bitmap, 0, batch->n, true); i < batch->n;
       i = find_bit(bitmap, i + 1, batch->n, true)) {
    hashes[nhits] = hash_key(set, batch_key(batch, i));
    slots[nhits] = first_slot(set, hashes[nhits]);
    __builtin_prefetch(&set->slots[slots[nhits]]);
    hits[nhits++] = (uint16_t)i;
  }
  for (size_t hit = 0; hit < nhits; hit++) {
    slots[hit] = find_candidate(set, slots[hit], hashes[hit]);
    const uint64_t slot = set->slots[slots[hit]];
    if (slot) {
      const char *key = set->keys.data + position_of(slot);
      __builtin_prefetch(key);
      __builtin_prefetch(key + MEMCHR_NBYTES - 1);
    }
  }
  for (size_t hit = 0; hit < nhits; hit++) {
    const size_t i = hits[hit];
    if (set->slots[find_slot(set, slots[hit], hashes[hit], batch_key(batch, i))])
      nfound++;
    else
      bitmap[i / 8] &= (uint8_t) ~(1 << i % 8);
  }
  return nfound;
}
