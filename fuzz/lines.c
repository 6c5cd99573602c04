/* Fuzzes what makes the key of a line: ranges of its bytes (-b), digests of text (--digest), and
 * partition keys of Cassandra (--type). The following must be true: keys and faults are those that
 * the definition below gives, line by line. The values of single columns are made by
 * convert_text(), which decoding.c checks.
 *
 *   flags, 1 byte: 1 NUL-terminated, 2 drop a carriage return, 4 trimmed, 8 lower-cased,
 *     16 upper-cased, 32 keep records without a key, 64 fail at them
 *   what, 1 byte: the digest, 0 to 4 | 8 lower-case or 16 upper-case digits, or 24 joined fields |
 *     32 times the number of columns | types of columns, 1 byte each
 *   how often the lines are repeated, 1 byte
 *   ranges, 2 bytes each: the first byte, and how many more, where 0xff means all;
 *     up to a first byte of 0xff | lines
 *
 * SPDX-License-Identifier: MIT */
#if defined(LANEBLOOM_WITH_NETTLE)
#include <nettle/md4.h>
#include <nettle/md5.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#endif

#include "fuzz.h"
#include "input/key_form.h"
#include "input/records.h"

enum { MAX_NBYTES = 128 << 10, MAX_NRANGES = 4, MAX_COLUMNS = 3, KEY_NBYTES = 2 * MAX_NBYTES };

/* The syntax, and the names of the types of its columns. */
struct lines {
  struct record_syntax syntax;
  struct partition_key key;
  const char *types[MAX_COLUMNS];
};

/* ---- The definition: functions return the number of bytes, or -1 if there is no key ---- */

static size_t trim(const char **begin, size_t nbytes)
{
  for (; nbytes > 0 && memchr(" \t\r\n", **begin, 4); nbytes--)
    ++*begin;
  while (nbytes > 0 && memchr(" \t\r\n", (*begin)[nbytes - 1], 4))
    nbytes--;
  return nbytes;
}

/* Appends a part of the text, which may be trimmed, and returns the new size of the text. */
static size_t append(const struct record_syntax *syntax, const char *part, size_t nbytes,
                     char *text, size_t n)
{
  if (syntax->form.flags & LANEBLOOM_KEY_TRIMMED)
    nbytes = trim(&part, nbytes);
  memcpy(text + n, part, nbytes);
  return n + nbytes;
}

/* Takes the text of a key from a line without its end. */
static long take_text(const struct record_syntax *syntax, const char *line, size_t nbytes,
                      char *text)
{
  const struct field_syntax *ranges = &syntax->fields;
  size_t n = 0;
  for (size_t i = 0; i < ranges->n; i++) {
    const size_t first = ranges->fields[i].number, last = ranges->fields[i].last;
    if (first >= nbytes)
      return -1;
    if (i > 0)
      text[n++] = '\t';
    n = append(syntax, line + first, (last < nbytes ? last + 1 : nbytes) - first, text, n);
  }
  if (ranges->n > 0)
    return (long)n;
  if (!(syntax->form.flags & LANEBLOOM_KEY_JOINED))
    return (long)append(syntax, line, nbytes, text, 0);
  for (const char *end = line + nbytes;;) {
    const char *stop = line;
    while (stop < end && *stop != '\t')
      stop++;
    n = append(syntax, line, (size_t)(stop - line), text, n);
    if (stop == end)
      return (long)n;
    text[n++] = '\t';
    line = stop + 1;
  }
}

/* Makes the value of a column: a number is big-endian, and 0x may precede the digits of a blob. */
static long make_value(const char *type, const char *text, size_t nbytes, uint8_t *value)
{
  static const struct text_units no_units;
  const bool is_int = strcmp(type, "int") == 0, is_bigint = strcmp(type, "bigint") == 0;
  const bool is_blob = strcmp(type, "blob") == 0;
  const size_t skipped = is_blob && nbytes >= 2 && memcmp(text, "0x", 2) == 0 ? 2 : 0;
  const lanebloom_key_form form = {.encoding = is_int                      ? LANEBLOOM_INT32
                                               : is_bigint                 ? LANEBLOOM_INT64
                                               : is_blob                   ? LANEBLOOM_HEX
                                               : strcmp(type, "uuid") == 0 ? LANEBLOOM_UUID
                                                                           : LANEBLOOM_BYTES};
  const uint8_t *end =
      convert_text(form, &no_units, (lanebloom_slice){text + skipped, nbytes - skipped}, value);
  if (!end)
    return -1;
  const size_t n = (size_t)(end - value);
  for (size_t i = 0; (is_int || is_bigint) && i < n / 2; i++) {
    const uint8_t byte = value[i];
    value[i] = value[n - 1 - i];
    value[n - 1 - i] = byte;
  }
  return (long)n;
}

static long make_partition_key(const struct lines *lines, const char *text, size_t nbytes,
                               uint8_t *key)
{
  size_t n = 0;
  const char *at = text, *end = text + nbytes;
  if (lines->key.n == 1)
    return make_value(lines->types[0], text, nbytes, key);
  for (size_t i = 0; i < lines->key.n; i++) {
    const char *stop = at;
    while (stop < end && *stop != '\t')
      stop++;
    if ((stop == end) != (i + 1 == lines->key.n))
      return -1;
    const long size = make_value(lines->types[i], at, (size_t)(stop - at), key + n + 2);
    if (size < 0 || size > 0xffff)
      return -1;
    key[n] = (uint8_t)(size >> 8);
    key[n + 1] = (uint8_t)size;
    n += 2 + (size_t)size;
    key[n++] = 0;
    at = stop + 1;
  }
  return (long)n;
}

#if defined(LANEBLOOM_WITH_NETTLE)
#if NETTLE_VERSION_MAJOR < 4
#define COMPUTE(name, size)                                                                        \
  (name##_init(&context.name), name##_update(&context.name, nbytes, bytes),                        \
   name##_digest(&context.name, size, digest), (size_t)(size))
#else
#define COMPUTE(name, size)                                                                        \
  (name##_init(&context.name), name##_update(&context.name, nbytes, bytes),                        \
   name##_digest(&context.name, digest), (size_t)(size))
#endif

static size_t digest_bytes(uint32_t name, const uint8_t *bytes, size_t nbytes, uint8_t *digest)
{
  union {
    struct md4_ctx md4;
    struct md5_ctx md5;
    struct sha1_ctx sha1;
    struct sha256_ctx sha256;
  } context;
  return name == LANEBLOOM_KEY_MD5      ? COMPUTE(md5, MD5_DIGEST_SIZE)
         : name == LANEBLOOM_KEY_SHA1   ? COMPUTE(sha1, SHA1_DIGEST_SIZE)
         : name == LANEBLOOM_KEY_SHA256 ? COMPUTE(sha256, SHA256_DIGEST_SIZE)
                                        : COMPUTE(md4, MD4_DIGEST_SIZE);
}

/* Converts UTF-8 to UTF-16, little-endian. The smallest number of bytes that can hold a character
 * is the only valid one. */
static long widen(const char *text, size_t nbytes, uint8_t *wide)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t n = 0;
  for (size_t i = 0; i < nbytes;) {
    const uint8_t first = (uint8_t)text[i++];
    const size_t size = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
    uint32_t c = size == 1 ? first : first & (0x7fu >> size);
    for (size_t j = 1; j < size; j++) {
      if (i == nbytes || ((uint8_t)text[i] & 0xc0) != 0x80)
        return -1;
      c = c << 6 | ((uint8_t)text[i++] & 0x3f);
    }
    if (size == 0 || c < least[size] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
      return -1;
    const uint32_t units[] = {c < 0x10000 ? c : 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff)};
    for (size_t j = 0; j < (c < 0x10000 ? 1 : 2); j++) {
      wide[n++] = (uint8_t)units[j];
      wide[n++] = (uint8_t)(units[j] >> 8);
    }
  }
  return (long)n;
}

static long make_digest(uint32_t flags, const char *text, size_t nbytes, uint8_t *key)
{
  static uint8_t wide[KEY_NBYTES];
  uint8_t digest[SHA256_DIGEST_SIZE];
  const uint32_t name = flags & LANEBLOOM_KEY_DIGEST;
  const long nwide = name == LANEBLOOM_KEY_NTLM ? widen(text, nbytes, wide) : 0;
  if (nwide < 0)
    return -1;
  const size_t n = name == LANEBLOOM_KEY_NTLM
                       ? digest_bytes(name, wide, (size_t)nwide, digest)
                       : digest_bytes(name, (const uint8_t *)text, nbytes, digest);
  if (!(flags & (LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX))) {
    memcpy(key, digest, n);
    return (long)n;
  }
  for (size_t i = 0; i < n; i++) {
    char digits[3];
    snprintf(digits, sizeof digits, flags & LANEBLOOM_KEY_UPPER_HEX ? "%02X" : "%02x", digest[i]);
    memcpy(key + 2 * i, digits, 2);
  }
  return 2 * (long)n;
}
#else
static long make_digest(uint32_t flags, const char *text, size_t nbytes, uint8_t *key)
{
  (void)flags, (void)text, (void)nbytes, (void)key;
  return -1; /* not called: the build has no digests */
}
#endif

static long make_key(const struct lines *lines, const char *line, size_t nbytes, uint8_t *key)
{
  static char text[KEY_NBYTES];
  const uint32_t flags = lines->syntax.form.flags;
  const long n = take_text(&lines->syntax, line, nbytes, text);
  if (n < 0)
    return -1;
  if (lines->key.n > 0)
    return make_partition_key(lines, text, (size_t)n, key);
  for (long i = 0; i < n; i++) {
    if (flags & LANEBLOOM_KEY_LOWERED && text[i] >= 'A' && text[i] <= 'Z')
      text[i] = (char)(text[i] + ('a' - 'A'));
    if (flags & LANEBLOOM_KEY_UPPERED && text[i] >= 'a' && text[i] <= 'z')
      text[i] = (char)(text[i] - ('a' - 'A'));
  }
  if (flags & LANEBLOOM_KEY_DIGEST)
    return make_digest(flags, text, (size_t)n, key);
  memcpy(key, text, (size_t)n);
  return n;
}

/* ---- Lines ---- */

static uint8_t expected[KEY_NBYTES];

/* Returns the size of the key of the line at *at, or -1 if it has none, and moves *at to the next
 * line. */
static long next_key(const struct lines *lines, const char **at, const char *end, bool is_first)
{
  const struct record_syntax *syntax = &lines->syntax;
  const char *begin = *at, *stop = memchr(begin, syntax->terminator, (size_t)(end - begin));
  *at = stop + 1;
  if (is_first && syntax->terminator == '\n' && stop - begin >= 3 &&
      memcmp(begin, "\xef\xbb\xbf", 3) == 0)
    begin += 3;
  if (syntax->crlf && stop > begin && stop[-1] == '\r')
    stop--;
  return make_key(lines, begin, (size_t)(stop - begin), expected);
}

static void check_lines(const struct lines *lines, const char *data, size_t nbytes)
{
  static struct cutter cutter;
  const char *at = data, *end = data + nbytes;
  bool is_first = true;
  cutter_begin(&cutter, &lines->syntax, data, nbytes, true);
  for (struct batch batch; cutter_next(&cutter, &batch);)
    for (size_t i = 0; i < batch.n; i++, is_first = false) {
      const lanebloom_slice found = batch_key(&batch, i);
      CHECK(batch_record(&batch, i) == at);
      const long n = next_key(lines, &at, end, is_first);
      CHECK(batch_record(&batch, i + 1) == at && batch_has_key(&batch, i) == (n >= 0));
      CHECK(found.size == (size_t)(n < 0 ? 0 : n) && memcmp(found.data, expected, found.size) == 0);
      CHECK(batch.keys.width == 0 || (batch.keys.width == found.size &&
                                      memcmp((const char *)batch.keys.data + i * batch.keys.stride,
                                             expected, found.size) == 0));
    }
  CHECK(cutter.next == at);
  if (at < end) {
    char text[400];
    CHECK(lines->syntax.fields.missing == MISSING_FAIL && cutter.fault.kind == FAULT_TEXT);
    CHECK(next_key(lines, &at, end, is_first) < 0);
    describe_fault(&cutter, text, sizeof text);
    CHECK(strlen(text) > 0 && strlen(text) < sizeof text - 1);
  } else {
    CHECK(cutter.fault.kind == FAULT_NONE);
  }
  cutter_end(&cutter); /* so that the next input has no more memory than it needs */
}

/* ---- The test ---- */

static void take_types(struct fuzz_input *input, size_t n, struct lines *lines)
{
  static const char *const names[] = {"text", "int", "bigint", "uuid", "blob"};
  char list[64] = "", problem[128];
  for (size_t i = 0; i < n; i++) {
    lines->types[i] = names[input_byte(input) % 5];
    strcat(strcat(list, i > 0 ? "," : ""), lines->types[i]);
  }
  if (n == 0)
    return;
  CHECK(parse_partition_key(list, &lines->key, problem, sizeof problem) && lines->key.n == n);
  lines->syntax.units.partition_key = &lines->key;
}

/* Takes ranges that do not overlap, as the command does. */
static void take_ranges(struct fuzz_input *input, struct record_syntax *syntax)
{
  for (unsigned first; input->left > 0 && (first = input_byte(input)) != 0xff;) {
    const unsigned more = input_byte(input);
    char list[32], problem[128];
    snprintf(list, sizeof list, more == 0xff ? "%u-" : "%u-%u", first + 1, first + 1 + more);
    if (syntax->fields.n < MAX_NRANGES)
      (void)add_byte_ranges(&syntax->fields, list, problem, sizeof problem);
  }
  syntax->fields.dialect = syntax->fields.n > 0 ? DIALECT_BYTES : DIALECT_NONE;
  if (syntax->fields.n > 1)
    syntax->form.flags |= LANEBLOOM_KEY_JOINED;
}

/* Options that exclude each other are not combined. */
static void take_syntax(struct fuzz_input *input, struct lines *lines, size_t *nrepeats)
{
  static const uint32_t digests[] = {0, LANEBLOOM_KEY_MD5, LANEBLOOM_KEY_SHA1, LANEBLOOM_KEY_SHA256,
                                     LANEBLOOM_KEY_NTLM};
  struct record_syntax *syntax = &lines->syntax;
  const uint8_t flags = input_byte(input), what = input_byte(input);
  uint32_t *form = &syntax->form.flags;
  syntax->terminator = flags & 1 ? '\0' : '\n';
  syntax->crlf = (flags & 3) == 2;
  syntax->fields.missing = flags & 64 ? MISSING_FAIL : flags & 32 ? MISSING_KEEP : MISSING_DROP;
  *form = flags & 4 ? LANEBLOOM_KEY_TRIMMED : 0;
  take_types(input, what / 32 % (MAX_COLUMNS + 1), lines);
  *nrepeats = 1 + (size_t)input_byte(input);
  take_ranges(input, syntax);
  if (lines->key.n > 0)
    return;
  *form |= flags & 8 ? LANEBLOOM_KEY_LOWERED : flags & 16 ? LANEBLOOM_KEY_UPPERED : 0;
  if ((what & 24) == 24)
    *form |= LANEBLOOM_KEY_JOINED;
  else if (has_digests() && what % 8 > 0 && what % 8 < 5)
    *form |= digests[what % 8] | (what & 8    ? LANEBLOOM_KEY_LOWER_HEX
                                  : what & 16 ? LANEBLOOM_KEY_UPPER_HEX
                                              : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  struct lines lines = {.syntax = {.decompress = DECOMPRESS_NONE}};
  size_t nrepeats;
  take_syntax(&input, &lines, &nrepeats);
  if (input.left == 0 || input.left >= MAX_NBYTES)
    return 0;
  const size_t most = (MAX_NBYTES - 1) / input.left;
  nrepeats = nrepeats < most ? nrepeats : most;
  const size_t nbytes = nrepeats * input.left + 1;
  char *data = fuzz_alloc(nbytes); /* the exact size lets sanitizers detect reads past it */
  for (size_t i = 0; i < nrepeats; i++)
    memcpy(data + i * input.left, input.at, input.left);
  data[nbytes - 1] = lines.syntax.terminator;
  check_lines(&lines, data, nbytes);
  free(data);
  return 0;
}
