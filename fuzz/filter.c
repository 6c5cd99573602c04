/* Fuzzes filters of all formats: takes any bytes as a filter, and screens any keys and hashes. The
 * following must be true: every kernel gives the same results as the scalar kernel. The scalar
 * kernel gives the results that follow from the bits at lanebloom_filter_positions(). Malformed
 * filters behave as include/lanebloom.h documents.
 *
 *   format, 1 byte | how often the payload is repeated, 1 byte | keys | the filter
 *
 * SPDX-License-Identifier: MIT */
#include "filter.h"

#include "fuzz.h"
#include "model.h"
#include "support.h"

enum {
  DCSO_HEADER_NBYTES = 48,
  DCSO_COUNT = 40,
  TRAILER_NBYTES = 5,
  FUSE_TRAILER_NBYTES = 14,
  MAX_NBYTES = 64 << 10,
  MAX_NPROBES = 255
};

/* ---- Expected answers, by the manual ---- */

enum verdict { REFUSED, BEYOND_LIMITS, NEVER, ALWAYS, BY_PROBES };

static enum verdict judge_leveldb(const uint8_t *bytes, size_t size)
{
  if (size < 2)
    return NEVER;
  return bytes[size - 1] == 0 || bytes[size - 1] > 30 ? ALWAYS : BY_PROBES;
}

static enum verdict judge_legacy(const uint8_t *bytes, size_t size)
{
  const uint8_t *number = bytes + size - 4;
  const uint64_t payload = size - 5;
  const uint64_t nlines =
      number[0] | (uint64_t)number[1] << 8 | (uint64_t)number[2] << 16 | (uint64_t)number[3] << 24;
  for (uint64_t line = 1; nlines > 0 && line <= payload; line *= 2)
    if (nlines * line == payload)
      return BY_PROBES;
  return ALWAYS;
}

static enum verdict judge_local(const uint8_t *bytes, size_t size)
{
  const uint8_t *trailer = bytes + size - 5;
  const bool understood =
      trailer[1] == 0 && trailer[2] >= 1 && trailer[2] <= 30 && trailer[3] == 0 && trailer[4] == 0;
  return understood && size - 5 >= 64 ? BY_PROBES : ALWAYS;
}

static bool is_asked_as(lanebloom_format asked, lanebloom_format found)
{
  return asked == found || asked == LANEBLOOM_ROCKSDB;
}

static enum verdict judge_rocksdb(lanebloom_format format, const uint8_t *bytes, size_t size)
{
  if (size < 6)
    return NEVER;
  const uint8_t *trailer = bytes + size - 5;
  if (trailer[0] >= 1 && trailer[0] <= 127)
    return is_asked_as(format, LANEBLOOM_ROCKSDB_LEGACY) ? judge_legacy(bytes, size) : REFUSED;
  if (trailer[0] == 0xff)
    return is_asked_as(format, LANEBLOOM_ROCKSDB_LOCAL) ? judge_local(bytes, size) : REFUSED;
  if (trailer[0] != 0xfe || (trailer[2] < 2 && trailer[3] == 0 && trailer[4] == 0))
    return ALWAYS;
  return !is_asked_as(format, LANEBLOOM_ROCKSDB_RIBBON) ? REFUSED
         : size - TRAILER_NBYTES < 16                   ? ALWAYS
                                                        : BY_PROBES;
}

static bool is_dcso(lanebloom_format format)
{
  return format == LANEBLOOM_DCSO || format == LANEBLOOM_DCSO_SIGNED;
}

/* Returns the number of bytes before the payload. */
static size_t header_nbytes(lanebloom_format format)
{
  switch (format) {
  case LANEBLOOM_SPARK_V1:
    return 12;
  case LANEBLOOM_SPARK_V2:
    return 16;
  case LANEBLOOM_DCSO:
  case LANEBLOOM_DCSO_SIGNED:
    return DCSO_HEADER_NBYTES;
  case LANEBLOOM_GUAVA_32:
  case LANEBLOOM_GUAVA_64:
  case LANEBLOOM_GUAVA:
    return 6;
  case LANEBLOOM_CASSANDRA:
  case LANEBLOOM_CASSANDRA_3:
  case LANEBLOOM_CASSANDRA_2:
    return 8;
  default:
    return 0;
  }
}

/* Returns the most bytes after the payload, or after the bytes that are repeated. */
static size_t trailer_nbytes(lanebloom_format format)
{
  return format == LANEBLOOM_PEBBLE_BINARYFUSE ? FUSE_TRAILER_NBYTES : TRAILER_NBYTES;
}

static uint32_t big_endian(const uint8_t *bytes)
{
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum verdict judge_spark(lanebloom_format format, const uint8_t *bytes, size_t size)
{
  const size_t header = header_nbytes(format);
  const uint32_t version = format == LANEBLOOM_SPARK_V1 ? 1 : 2;
  if (size <= header || big_endian(bytes) != version ||
      (size - header) / 8 != big_endian(bytes + header - 4) || (size - header) % 8 != 0)
    return REFUSED;
  const uint32_t nprobes = big_endian(bytes + 4);
  if (nprobes >= 256 && nprobes < 0x80000000)
    return BEYOND_LIMITS;
  if (version == 2 && big_endian(bytes + 8) != 0)
    return REFUSED;
  return nprobes >= 1 && nprobes <= 255 ? BY_PROBES : ALWAYS;
}

/* Checks that the header announces the words that follow, and at least one. */
static bool has_its_words(const uint8_t *bytes, size_t size, size_t header)
{
  return size > header && (size - header) % 8 == 0 &&
         (size - header) / 8 == big_endian(bytes + header - 4);
}

static enum verdict judge_guava(lanebloom_format format, const uint8_t *bytes, size_t size)
{
  const bool is_strategy = size > 0 && (format == LANEBLOOM_GUAVA_32   ? bytes[0] == 0
                                        : format == LANEBLOOM_GUAVA_64 ? bytes[0] == 1
                                                                       : bytes[0] < 2);
  return is_strategy && has_its_words(bytes, size, 6) && bytes[1] > 0 ? BY_PROBES : REFUSED;
}

static enum verdict judge_cassandra(const uint8_t *bytes, size_t size)
{
  if (size == 0)
    return ALWAYS;
  if (!has_its_words(bytes, size, 8))
    return REFUSED;
  const uint32_t nprobes = big_endian(bytes);
  return nprobes == 0 || nprobes >= 0x80000000 ? ALWAYS : nprobes > 21 ? BEYOND_LIMITS : BY_PROBES;
}

/* Returns the number of bytes that n fingerprints take (Pebble f82e3ff), or 0 if there is no such
 * width. */
static uint64_t fuse_nbytes(unsigned nbits, uint64_t n)
{
  switch (nbits) {
  case 4:
    return (n + 1) / 2;
  case 8:
  case 16:
    return n * nbits / 8;
  case 10:
    return (n * 10 + 7) / 8 + 3;
  case 12:
    return (n + 1) / 2 * 3 + 1;
  default:
    return 0;
  }
}

/* Returns the number of bytes of fingerprints that a binary fuse filter's trailer implies, or 0 if
 * no filter has this trailer. end: the end of the trailer. */
static uint64_t fuse_payload_nbytes(const uint8_t *end)
{
  const uint64_t nsegments =
      end[-6] | (uint64_t)end[-5] << 8 | (uint64_t)end[-4] << 16 | (uint64_t)end[-3] << 24;
  const uint64_t n = end[-2] < 32 ? (nsegments + 2) << end[-2] : 0;
  return nsegments > 0 && n > 0 && n <= UINT32_MAX ? fuse_nbytes(end[-1], n) : 0;
}

static enum verdict judge_fuse(const uint8_t *bytes, size_t size)
{
  if (size <= FUSE_TRAILER_NBYTES)
    return NEVER;
  return fuse_payload_nbytes(bytes + size) == size - FUSE_TRAILER_NBYTES ? BY_PROBES : REFUSED;
}

/* Returns the number of bytes that this many bits take in words of 8 bytes, or UINT64_MAX if it is
 * too large for any input. */
static uint64_t dcso_payload_nbytes(uint64_t nbits)
{
  return nbits > UINT64_MAX / 2 ? UINT64_MAX : (nbits + 63) / 64 * 8;
}

static enum verdict judge_dcso(const uint8_t *bytes, size_t size)
{
  if (size < DCSO_HEADER_NBYTES || bytes[0] != 1)
    return REFUSED;
  const uint64_t nprobes = load_le64(bytes + 24), nbits = load_le64(bytes + 32);
  if (nprobes > 0 && nbits == 0)
    return REFUSED;
  if (nprobes >= 256)
    return BEYOND_LIMITS;
  if (dcso_payload_nbytes(nbits) > size - DCSO_HEADER_NBYTES)
    return REFUSED;
  return nprobes == 0 ? ALWAYS : BY_PROBES;
}

/* ---- Hudi ---- */

static enum verdict judge_hudi_record(const uint8_t *bytes, size_t size)
{
  if (size < HUDI_HEADER_NBYTES || big_endian(bytes) != UINT32_MAX || bytes[8] != 1)
    return REFUSED;
  const uint32_t nprobes = big_endian(bytes + 4), nbits = big_endian(bytes + 9);
  if (nprobes == 0 || nprobes >= 0x80000000 || nbits == 0 || nbits >= 0x80000000)
    return REFUSED;
  if (nprobes > MAX_NPROBES)
    return BEYOND_LIMITS;
  const uint64_t row_nbytes = HUDI_HEADER_NBYTES + ((uint64_t)nbits + 7) / 8;
  if (size < HUDI_DYNAMIC_NBYTES + HUDI_HEADER_NBYTES ||
      memcmp(bytes, bytes + HUDI_DYNAMIC_NBYTES, HUDI_HEADER_NBYTES) != 0)
    return size == row_nbytes ? BY_PROBES : REFUSED;
  const uint64_t nrows = big_endian(bytes + 21);
  if (nrows == 0 || nrows >= 0x80000000 || size != HUDI_DYNAMIC_NBYTES + nrows * row_nbytes)
    return REFUSED;
  for (uint64_t i = 0; i < nrows; i++)
    if (memcmp(bytes, bytes + HUDI_DYNAMIC_NBYTES + i * row_nbytes, HUDI_HEADER_NBYTES) != 0)
      return REFUSED;
  return BY_PROBES;
}

/* Returns the value of a character of Base64, or -1. */
static int base64_value(uint8_t character)
{
  static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = character ? strchr(all, character) : NULL;
  return found ? (int)(found - all) : -1;
}

/* Decodes Base64 bit by bit. Returns false if the text is not Base64. */
static bool decode_base64(const uint8_t *text, size_t size, uint8_t *bytes, size_t *nbytes)
{
  size_t npadding = 0;
  while (npadding < 2 && npadding < size && text[size - 1 - npadding] == '=')
    npadding++;
  *nbytes = size / 4 * 3 - npadding;
  if (size % 4 != 0)
    return false;
  memset(bytes, 0, size / 4 * 3);
  for (size_t i = 0; i < size - npadding; i++) {
    const int value = base64_value(text[i]);
    if (value < 0)
      return false;
    for (size_t j = 0; j < 6; j++) {
      const size_t at = 6 * i + j;
      if (value >> (5 - j) & 1)
        bytes[at / 8] = (uint8_t)(bytes[at / 8] | 0x80 >> at % 8);
    }
  }
  for (size_t i = 0; i < npadding; i++)
    if (bytes[*nbytes + i] != 0)
      return false;
  return true;
}

static bool is_hudi_text(const uint8_t *bytes, size_t size)
{
  return size >= 5 && memcmp(bytes, "/////", 5) == 0;
}

static enum verdict judge_hudi(const uint8_t *bytes, size_t size)
{
  if (!is_hudi_text(bytes, size))
    return judge_hudi_record(bytes, size);
  if (bytes[size - 1] == '\n')
    size -= bytes[size - 2] == '\r' ? 2 : 1;
  uint8_t *record = fuzz_alloc(size / 4 * 3 + 1);
  size_t nbytes;
  const enum verdict verdict =
      decode_base64(bytes, size, record, &nbytes) ? judge_hudi_record(record, nbytes) : REFUSED;
  free(record);
  return verdict;
}

static enum verdict judge(lanebloom_format format, const uint8_t *bytes, size_t size)
{
  switch (format) {
  case LANEBLOOM_LEVELDB:
  case LANEBLOOM_LEVELDB_SIGNED:
    return judge_leveldb(bytes, size);
  case LANEBLOOM_ROCKSDB_LEGACY:
  case LANEBLOOM_ROCKSDB_LOCAL:
  case LANEBLOOM_ROCKSDB_RIBBON:
  case LANEBLOOM_ROCKSDB:
    return judge_rocksdb(format, bytes, size);
  case LANEBLOOM_PARQUET:
    return size > 0 && size % 32 == 0 ? BY_PROBES : REFUSED;
  case LANEBLOOM_SPARK_V1:
  case LANEBLOOM_SPARK_V2:
    return judge_spark(format, bytes, size);
  case LANEBLOOM_PEBBLE_BINARYFUSE:
    return judge_fuse(bytes, size);
  case LANEBLOOM_DCSO:
  case LANEBLOOM_DCSO_SIGNED:
    return judge_dcso(bytes, size);
  case LANEBLOOM_GUAVA_32:
  case LANEBLOOM_GUAVA_64:
  case LANEBLOOM_GUAVA:
    return judge_guava(format, bytes, size);
  case LANEBLOOM_CASSANDRA:
  case LANEBLOOM_CASSANDRA_3:
  case LANEBLOOM_CASSANDRA_2:
    return judge_cassandra(bytes, size);
  case LANEBLOOM_HUDI:
    return judge_hudi(bytes, size);
  }
  return REFUSED;
}

/* ---- Answers ---- */

/* Is this a filter that compares keys with sums of bits, and not with single bits? */
static bool has_sums(lanebloom_format format)
{
  return format == LANEBLOOM_ROCKSDB_RIBBON || format == LANEBLOOM_PEBBLE_BINARYFUSE;
}

/* Checks whether the Ribbon or binary fuse filter has the hash. The tests' model computes this,
 * with the shape that the library parsed. */
static bool fulfils(const lanebloom_filter *filter, const lanebloom_filter_info *info,
                    const uint8_t *hash)
{
  uint64_t positions[1], value;
  memcpy(&value, hash, sizeof value);
  CHECK(lanebloom_filter_positions(filter, hash, positions) == 0);
  CHECK(info->nprobes >= 1 && info->nprobes <= 32 && info->nkeys_estimate == LANEBLOOM_UNKNOWN);
  return (info->format == LANEBLOOM_ROCKSDB_RIBBON ? model_ribbon_may_match : model_fuse_may_match)(
      &filter->shape, filter->payload, value);
}

/* Checks whether the filter has the hash. A filter without sums has the hash if all bits that the
 * hash probes are set. */
static bool has_bits(const lanebloom_filter *filter, const lanebloom_filter_info *info,
                     enum verdict verdict, const uint8_t *hash)
{
  size_t size;
  const uint8_t *bytes = lanebloom_filter_bytes(filter, &size);
  uint64_t positions[MAX_NPROBES];
  if (has_sums(info->format) && verdict == BY_PROBES)
    return fulfils(filter, info, hash);
  const size_t n = lanebloom_filter_positions(filter, hash, positions);
  CHECK(n == info->nprobes && (n > 0) == (verdict == BY_PROBES) && n <= MAX_NPROBES &&
        info->nbits <= size * 8);
  bool all = verdict != NEVER;
  for (size_t i = 0; i < n; i++) {
    CHECK(positions[i] - 8 * header_nbytes(info->format) < info->nbits);
    all = all && bit(bytes, positions[i]);
  }
  return all;
}

/* The scalar kernel's results, as bitmaps: for the keys, and for hashes that are any bytes. */
struct answers {
  uint8_t keys[FUZZ_BITMAP_NBYTES], hashes[FUZZ_BITMAP_NBYTES];
};

static void answer_by_scalar(const lanebloom_filter *filter, enum verdict verdict,
                             const lanebloom_keys *keys, lanebloom_slice hashes,
                             struct answers *answers)
{
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  const size_t hash_nbytes = lanebloom_format_hash_size(info.format);
  static uint8_t own[FUZZ_MAX_NKEYS * LANEBLOOM_MAX_HASH_SIZE];
  const size_t n = hash_nbytes ? hashes.size / hash_nbytes : 0;
  check_bitmap(answers->keys, keys->n, lanebloom_filter_screen(filter, keys, answers->keys));
  check_bitmap(answers->hashes, n,
               lanebloom_filter_screen_hashes(filter, hashes.data, n, answers->hashes));
  if (info.format == LANEBLOOM_HUDI)
    for (size_t i = 0; i < keys->n; i++)
      CHECK(bit(answers->keys, i) ==
            model_hudi_may_have(&filter->shape, filter->payload,
                                ((const lanebloom_slice *)keys->index)[i]));
  if (hash_nbytes == 0) /* the result is the same for every key, or there are no hashes */
    return;
  CHECK(lanebloom_hash(info.format, keys, own) == LANEBLOOM_OK);
  for (size_t i = 0; i < keys->n; i++)
    CHECK(bit(answers->keys, i) ==
          has_bits(filter, &info, verdict, (const uint8_t *)own + i * hash_nbytes));
  for (size_t i = 0; i < n; i++)
    CHECK(bit(answers->hashes, i) ==
          has_bits(filter, &info, verdict, (const uint8_t *)hashes.data + i * hash_nbytes));
}

static void check_kernel(const lanebloom_filter *filter, const lanebloom_keys *keys,
                         lanebloom_slice hashes, const struct answers *expected)
{
  static struct answers found;
  static uint32_t indices[FUZZ_MAX_NKEYS];
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  const size_t hash_nbytes = lanebloom_format_hash_size(info.format),
               n = hash_nbytes ? hashes.size / hash_nbytes : 0;
  const size_t count = lanebloom_filter_screen(filter, keys, found.keys);
  CHECK(memcmp(found.keys, expected->keys, (keys->n + 7) / 8) == 0);
  check_bitmap(found.keys, keys->n, count);
  CHECK(lanebloom_filter_screen(filter, keys, NULL) == count);
  lanebloom_filter_screen_hashes(filter, hashes.data, n, found.hashes);
  CHECK(memcmp(found.hashes, expected->hashes, (n + 7) / 8) == 0);
  CHECK(lanebloom_filter_select(filter, keys, indices) == count);
  for (size_t i = 0, next = 0; i < keys->n; i++)
    if (bit(expected->keys, i))
      CHECK(indices[next++] == i);
  if (keys->n > 0) {
    const lanebloom_slice *first = keys->index;
    CHECK(lanebloom_filter_may_contain(filter, first->data, first->size) == bit(expected->keys, 0));
  }
}

/* Checks that a merge of filters has the bits of all of them, even if a filter is merged twice. The
 * second filter of the merge has the same shape, and its payload is in reverse order. Filters with
 * a header and without probes can be merged only if they are equal, and filters with sums only if
 * they have no probes. */
static void check_merge(lanebloom_format format, const uint8_t *bytes, size_t size,
                        const lanebloom_filter *filter)
{
  if (format == LANEBLOOM_HUDI) {
    lanebloom_filter *merged;
    CHECK(lanebloom_filter_merge((const lanebloom_filter *[]){filter, filter}, 2, &merged, NULL,
                                 NULL, 0) == LANEBLOOM_ERR_MISMATCH);
    return;
  }
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  const size_t header = header_nbytes(format) < size ? header_nbytes(format) : 0,
               rest = size - header, most_trailer = trailer_nbytes(format),
               trailer = rest < most_trailer ? rest : most_trailer,
               payload = is_dcso(format) ? (size_t)dcso_payload_nbytes(info.nbits) : rest - trailer;
  uint8_t *turned = fuzz_alloc(size);
  for (size_t i = 0; i < size; i++)
    turned[i] = bytes[i];
  for (size_t i = 0; i < payload; i++)
    turned[header + i] = bytes[header + payload - 1 - i];
  lanebloom_filter *other, *merged;
  CHECK(lanebloom_filter_parse_raw(format, turned, size, NULL, &other, NULL, 0) == LANEBLOOM_OK);
  const bool can_merge = has_sums(info.format)             ? info.nprobes == 0
                         : header > 0 && info.nprobes == 0 ? memcmp(turned, bytes, size) == 0
                                                           : true;
  char problem[256] = "x";
  size_t bad;
  CHECK(lanebloom_filter_merge((const lanebloom_filter *[]){filter, other, filter}, 3, &merged,
                               &bad, problem, sizeof problem) ==
        (can_merge ? LANEBLOOM_OK : LANEBLOOM_ERR_MISMATCH));
  CHECK(can_merge == !*problem && can_merge == (bad == 3));
  if (!can_merge) {
    CHECK(!merged);
    lanebloom_filter_free(other);
    free(turned);
    return;
  }
  size_t nbytes;
  const uint8_t *found = lanebloom_filter_bytes(merged, &nbytes);
  CHECK(nbytes == size);
  const bool adds_counts = is_dcso(format) && info.nprobes > 0;
  const uint64_t count = adds_counts ? load_le64(bytes + DCSO_COUNT) : 0,
                 sum = count > UINT64_MAX / 3 ? UINT64_MAX : 3 * count;
  CHECK(!adds_counts || load_le64(found + DCSO_COUNT) == sum);
  for (size_t i = 0; i < size; i++)
    if (!adds_counts || i < DCSO_COUNT || i >= DCSO_HEADER_NBYTES)
      CHECK(found[i] == (bytes[i] | turned[i]));
  lanebloom_filter_free(merged);
  lanebloom_filter_free(other);
  free(turned);
}

/* ---- The target ---- */

/* Makes a filter from the rest of the input, with its payload repeated. The memory has the exact
 * size of the filter, so that sanitizers detect reads past its end. If the filter has a header, the
 * number of words or bits in it is corrected. If the filter is a binary fuse filter, the payload is
 * repeated or cut to the size that the trailer implies. */
static uint8_t *repeat(lanebloom_format format, const struct fuzz_input *rest, size_t times,
                       size_t *size)
{
  const size_t header = header_nbytes(format) < rest->left ? header_nbytes(format) : 0,
               left = rest->left - header, most_trailer = header > 0 ? 0 : trailer_nbytes(format),
               trailer = left < most_trailer ? left : most_trailer, payload = left - trailer;
  if (payload == 0 || times * payload > MAX_NBYTES || format == LANEBLOOM_HUDI)
    times = 1;
  size_t repeated = times * payload;
  if (format == LANEBLOOM_PEBBLE_BINARYFUSE && times > 1) {
    const uint64_t implied = fuse_payload_nbytes(rest->at + left);
    if (implied > 0 && implied <= MAX_NBYTES)
      repeated = (size_t)implied;
  }
  *size = header + repeated + trailer;
  uint8_t *bytes = fuzz_alloc(*size);
  if (header > 0)
    memcpy(bytes, rest->at, header);
  for (size_t i = 0; i < repeated; i++)
    bytes[header + i] = rest->at[header + i % payload];
  if (trailer > 0)
    memcpy(bytes + header + repeated, rest->at + header + payload, trailer);
  if (is_dcso(format) && header > 0 && times > 1)
    store_le64(bytes + 32, 8 * repeated - times % 64);
  for (size_t i = 0; !is_dcso(format) && header > 0 && times > 1 && i < 4; i++)
    bytes[header - 1 - i] = (uint8_t)(repeated / 8 >> 8 * i);
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static lanebloom_slice slices[FUZZ_MAX_NKEYS];
  static struct answers expected;
  struct fuzz_input input = {bytes, size};
  const lanebloom_format format =
      (lanebloom_format)(input_byte(&input) % ((unsigned)test_first_unknown_format() + 1));
  const size_t times = 1 + (size_t)input_byte(&input);
  const uint8_t *from = input.at;
  const lanebloom_keys keys = input_keys(&input, slices);
  lanebloom_slice hashes = {
      from, (size_t)(input.at - from)}; /* the bytes of the keys again, at any alignment */
  if (hashes.size > FUZZ_MAX_NKEYS)
    hashes.size = FUZZ_MAX_NKEYS;
  size_t nbytes;
  uint8_t *filter_bytes = repeat(format, &input, times, &nbytes);

  CHECK(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  lanebloom_filter *filter;
  char problem[256] = "x";
  const lanebloom_status status = lanebloom_filter_parse_raw(format, filter_bytes, nbytes, NULL,
                                                             &filter, problem, sizeof problem);
  CHECK(!status == !*problem);
  const enum verdict verdict = judge(format, filter_bytes, nbytes);
  CHECK(status == (verdict == REFUSED         ? LANEBLOOM_ERR_FORMAT
                   : verdict == BEYOND_LIMITS ? LANEBLOOM_ERR_LIMIT
                                              : LANEBLOOM_OK) &&
        !filter == (verdict == REFUSED || verdict == BEYOND_LIMITS));
  if (filter) {
    answer_by_scalar(filter, verdict, &keys, hashes, &expected);
    const size_t count = lanebloom_filter_screen(filter, &keys, NULL);
    CHECK(verdict == BY_PROBES || count == (verdict == NEVER ? 0 : keys.n));
    for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
      CHECK(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
      check_kernel(filter, &keys, hashes, &expected);
    }
    check_merge(format, filter_bytes, nbytes, filter);
    lanebloom_filter_free(filter);
  }
  free(filter_bytes);
  return 0;
}
