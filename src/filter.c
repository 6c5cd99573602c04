/* Makes filters from an engine's bytes, describes filters and frees them.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "filter.h"
#include "info.h"

const char *lanebloom_status_text(lanebloom_status status)
{
  switch (status) {
  case LANEBLOOM_OK:
    return "success";
  case LANEBLOOM_ERR_ARGUMENT:
    return "an argument is outside its documented range";
  case LANEBLOOM_ERR_MEMORY:
    return "out of memory";
  case LANEBLOOM_ERR_FORMAT:
    return "not a filter of this format, or no such format";
  case LANEBLOOM_ERR_CORRUPT:
    return "damaged: a size, a checksum or the structure is wrong";
  case LANEBLOOM_ERR_LIMIT:
    return "more than the format can hold";
  case LANEBLOOM_ERR_MISMATCH:
    return "formats, sizes, bits, probes or key forms do not fit together";
  case LANEBLOOM_ERR_KERNEL:
    return "no such kernel, or this CPU cannot run it";
  case LANEBLOOM_ERR_IO:
    return "a file could not be read or written";
  case LANEBLOOM_ERR_ROOM:
    return "the output needs more room than the caller gave";
  }
  return "unknown status";
}

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *lanebloom_version(void)
{
  return VERSION_TEXT(LANEBLOOM_VERSION_MAJOR, LANEBLOOM_VERSION_MINOR, LANEBLOOM_VERSION_PATCH);
}

/* ---- Key forms ---- */

static const char *const ENCODING_NAMES[] = {
    [LANEBLOOM_BYTES] = "bytes",
    [LANEBLOOM_HEX] = "hex",
    [LANEBLOOM_BASE64] = "base64",
    [LANEBLOOM_INT32] = "int32",
    [LANEBLOOM_INT64] = "int64",
    [LANEBLOOM_UINT32] = "uint32",
    [LANEBLOOM_UINT64] = "uint64",
    [LANEBLOOM_FLOAT32] = "float32",
    [LANEBLOOM_FLOAT64] = "float64",
    [LANEBLOOM_DATE32] = "date32",
    [LANEBLOOM_TIMESTAMP_S] = "timestamp-s",
    [LANEBLOOM_TIMESTAMP_MS] = "timestamp-ms",
    [LANEBLOOM_TIMESTAMP_US] = "timestamp-us",
    [LANEBLOOM_TIMESTAMP_NS] = "timestamp-ns",
    [LANEBLOOM_DECIMAL128] = "decimal128",
    [LANEBLOOM_UUID] = "uuid",
};

static bool is_known(lanebloom_encoding encoding)
{
  return (uint32_t)encoding < sizeof ENCODING_NAMES / sizeof *ENCODING_NAMES;
}

const char *lanebloom_encoding_name(lanebloom_encoding encoding)
{
  return is_known(encoding) ? ENCODING_NAMES[encoding] : "unknown";
}

bool lanebloom_key_form_is_known(lanebloom_key_form form)
{
  const uint32_t cases = LANEBLOOM_KEY_LOWERED | LANEBLOOM_KEY_UPPERED;
  const uint32_t hex = LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX;
  const uint32_t others = LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_JOINED;
  const uint32_t digest = form.flags & LANEBLOOM_KEY_DIGEST;
  return is_known(form.encoding) &&
         (form.flags & ~(cases | hex | others | LANEBLOOM_KEY_DIGEST)) == 0 &&
         (form.flags & cases) != cases && (form.flags & hex) != hex &&
         digest <= LANEBLOOM_KEY_NTLM &&
         (digest ? form.encoding == LANEBLOOM_BYTES : (form.flags & hex) == 0);
}

bool lanebloom_encoding_by_name(const char *name, lanebloom_encoding *encoding)
{
  for (size_t i = 0; i < sizeof ENCODING_NAMES / sizeof *ENCODING_NAMES; i++)
    if (strcmp(ENCODING_NAMES[i], name) == 0) {
      *encoding = (lanebloom_encoding)i;
      return true;
    }
  return false;
}

static const char *digest_name(uint32_t digest)
{
  return digest == LANEBLOOM_KEY_MD5      ? "md5"
         : digest == LANEBLOOM_KEY_SHA1   ? "sha1"
         : digest == LANEBLOOM_KEY_SHA256 ? "sha256"
         : digest == LANEBLOOM_KEY_NTLM   ? "ntlm"
                                          : "unknown digest";
}

const char *lanebloom_key_form_text(lanebloom_key_form form, char *text, size_t text_size)
{
  const uint32_t digest = form.flags & LANEBLOOM_KEY_DIGEST;
  snprintf(text, text_size, "%s%s%s%s%s%s",
           digest ? digest_name(digest) : lanebloom_encoding_name(form.encoding),
           form.flags & LANEBLOOM_KEY_LOWER_HEX   ? ":hex"
           : form.flags & LANEBLOOM_KEY_UPPER_HEX ? ":HEX"
                                                  : "",
           form.flags & LANEBLOOM_KEY_TRIMMED ? ", trimmed" : "",
           form.flags & LANEBLOOM_KEY_LOWERED ? ", lower-cased" : "",
           form.flags & LANEBLOOM_KEY_UPPERED ? ", upper-cased" : "",
           form.flags & LANEBLOOM_KEY_JOINED ? ", fields joined by a tab" : "");
  return text;
}

/* ---- Parsing and describing ---- */

static const struct filter_facts UNKNOWN_FACTS = {.nkeys = LANEBLOOM_UNKNOWN, .bits_per_key = NAN};

lanebloom_status lanebloom_filter_read(const struct format_table *requested, const uint8_t *bytes,
                                       size_t nbytes, lanebloom_filter *filter,
                                       const struct problem *problem)
{
  lanebloom_status status = lanebloom_format_check_size(requested, nbytes, problem);
  if (status)
    return status;
  const struct format_table *format =
      requested->recognise ? requested->recognise(bytes, nbytes) : requested;
  struct filter_shape shape;
  status = format->parse(format, bytes, nbytes, &shape, problem);
  if (status)
    return status;
  if (shape.answer != ANSWER_BY_PROBES)
    format = requested; /* a constant answer is the same in all formats that are recognised */
  *filter = (lanebloom_filter){
      .format = format,
      .shape = shape,
      .bytes = bytes,
      .nbytes = nbytes,
      .payload = shape.answer == ANSWER_BY_PROBES ? bytes + format->header_nbytes : bytes,
      .facts = UNKNOWN_FACTS,
      .memory = {.kind = MEMORY_BORROWED},
  };
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_adopt(const struct format_table *requested, const uint8_t *bytes,
                                        size_t nbytes, const struct filter_facts *facts,
                                        struct memory memory, lanebloom_filter **filter,
                                        const struct problem *problem)
{
  struct memory decoded = {.kind = MEMORY_BORROWED};
  lanebloom_status status = LANEBLOOM_OK;
  if (requested->decode)
    status = requested->decode(bytes, nbytes, &decoded, &nbytes, problem);
  lanebloom_filter read;
  if (!status)
    status = lanebloom_filter_read(requested, decoded.bytes ? decoded.bytes : bytes, nbytes, &read,
                                   problem);
  lanebloom_filter *made = status ? NULL : malloc(sizeof *made);
  if (!made) {
    lanebloom_memory_free(&decoded);
    return status ? status : problem_memory(problem, sizeof *made);
  }
  *made = read;
  made->facts = *facts;
  if (decoded.bytes)
    lanebloom_memory_free(&memory);
  made->memory = decoded.bytes ? decoded : memory;
  *filter = made;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_facts_of(const lanebloom_raw_options *options,
                                           struct filter_facts *facts,
                                           const struct problem *problem)
{
  *facts = UNKNOWN_FACTS;
  if (!options)
    return LANEBLOOM_OK;
  if (!lanebloom_key_form_is_known(options->key_form))
    return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                       "key form: expected an encoding and flags that are defined, found encoding "
                       "%d and flags %04" PRIx32,
                       (int)options->key_form.encoding, options->key_form.flags);
  const double bits = options->bits_per_key;
  if (options->has_bits_per_key && !(bits >= 0 && bits <= INT_MAX))
    return problem_set(problem, LANEBLOOM_ERR_ARGUMENT, "bits per key: expected 0 to %d, found %g",
                       INT_MAX, bits);
  facts->key_form = options->key_form;
  if (options->has_nkeys)
    facts->nkeys = options->nkeys;
  if (options->has_bits_per_key)
    facts->bits_per_key = bits;
  return LANEBLOOM_OK;
}

/* Takes the facts that the caller did not give from the header, if it has them. */
static void take_header_facts(lanebloom_filter *filter)
{
  struct filter_facts *facts = &filter->facts;
  const struct filter_shape *shape = &filter->shape;
  const size_t count_offset = filter->format->count_offset;
  if (shape->answer != ANSWER_BY_PROBES)
    return;
  if (count_offset > 0 && facts->nkeys == LANEBLOOM_UNKNOWN)
    facts->nkeys = load_le64(filter->bytes + count_offset);
  if (shape->planned.nkeys > 0 && isnan(facts->bits_per_key))
    facts->bits_per_key =
        fmin((double)shape->nbits / (double)shape->planned.nkeys, (double)INT_MAX);
}

lanebloom_status lanebloom_filter_adopt_raw(const struct format_table *requested,
                                            const uint8_t *bytes, size_t nbytes,
                                            const struct filter_facts *facts, struct memory memory,
                                            lanebloom_filter **filter,
                                            const struct problem *problem)
{
  const lanebloom_status status =
      lanebloom_filter_adopt(requested, bytes, nbytes, facts, memory, filter, problem);
  if (status)
    return status;
  take_header_facts(*filter);
  /* limits the bits per key as a builder does when it records them */
  double *bits_per_key = &(*filter)->facts.bits_per_key;
  const double max = (double)(*filter)->format->max_millibits / 1000;
  if (max > 0 && *bits_per_key > max)
    *bits_per_key = max;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_parse_raw(lanebloom_format id, const void *bytes, size_t size,
                                            const lanebloom_raw_options *options,
                                            lanebloom_filter **filter, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *filter = NULL;
  const struct format_table *format;
  struct filter_facts facts;
  lanebloom_status status = lanebloom_format_find(id, &format);
  if (status)
    return lanebloom_format_problem(&problem, status, id);
  if (!bytes && size > 0)
    return problem_no_bytes(&problem, size);
  status = lanebloom_filter_facts_of(options, &facts, &problem);
  if (status)
    return status;
  struct memory borrowed = {.kind = MEMORY_BORROWED};
  return lanebloom_filter_adopt_raw(format, bytes, size, &facts, borrowed, filter, &problem);
}

void lanebloom_filter_free(lanebloom_filter *filter)
{
  if (!filter)
    return;
  lanebloom_memory_free(&filter->memory);
  free(filter);
}

lanebloom_format lanebloom_filter_format(const lanebloom_filter *filter)
{
  return filter->format->id;
}

uint64_t lanebloom_filter_nkeys(const lanebloom_filter *filter)
{
  return filter->facts.nkeys;
}

/* Rounds the recorded bits per key to the value in effect. */
double lanebloom_filter_bits_per_key(const lanebloom_filter *filter)
{
  const struct format_table *format = filter->format;
  const double recorded = filter->facts.bits_per_key;
  uint64_t millibits;
  const bool is_known =
      format->round_bits && format->round_bits(format, recorded, &millibits) == LANEBLOOM_OK;
  return is_known ? (double)millibits / 1000 : recorded;
}

lanebloom_key_form lanebloom_filter_key_form(const lanebloom_filter *filter)
{
  return filter->facts.key_form;
}

const void *lanebloom_filter_bytes(const lanebloom_filter *filter, size_t *size)
{
  *size = filter->nbytes;
  return filter->bytes;
}

static uint64_t count_ones(const uint8_t *bytes, uint64_t nbits)
{
  const uint64_t nbytes = nbits / 8;
  uint64_t n = 0, i = 0;
  for (; i + 8 <= nbytes; i += 8)
    n += (unsigned)__builtin_popcountll(load_le64(bytes + i));
  for (; i < nbytes; i++)
    n += (unsigned)__builtin_popcount(bytes[i]);
  if (nbits % 8 > 0)
    n += (unsigned)__builtin_popcount(bytes[i] & ((1u << nbits % 8) - 1));
  return n;
}

void lanebloom_filter_describe(const lanebloom_filter *filter, lanebloom_filter_info *info,
                               size_t info_size)
{
  const struct filter_shape *shape = &filter->shape;
  lanebloom_filter_info full = {
      .format = filter->format->id,
      .nkeys = filter->facts.nkeys,
      .bits_per_key = lanebloom_filter_bits_per_key(filter),
      .model_rate = shape->answer == ANSWER_ALWAYS,
      .nkeys_estimate = LANEBLOOM_UNKNOWN,
      .key_form = filter->facts.key_form,
      .planned_nkeys = shape->planned.nkeys ? shape->planned.nkeys : LANEBLOOM_UNKNOWN,
  };
  if (shape->answer == ANSWER_BY_PROBES) {
    full.nprobes = shape->nprobes;
    full.nbits = shape->nbits;
    if (filter->format->count) {
      full.nbits_set = filter->format->count(shape, filter->payload, &full.model_rate);
    } else {
      full.nbits_set = count_ones(filter->payload, shape->nbits);
      full.model_rate =
          filter->format->filled_rate(filter->format, shape, full.nbits_set, full.nkeys);
    }
    if (filter->format->positions) /* without positions, set bits do not tell the number of keys */
      full.nkeys_estimate =
          lanebloom_estimate_nkeys(shape, full.nbits_set, 8u * HASH_NBYTES[filter->format->hash]);
  }
  info_copy(info, info_size, &full, sizeof full);
}

size_t lanebloom_filter_positions(const lanebloom_filter *filter, const void *hash,
                                  uint64_t *positions)
{
  if (filter->shape.answer != ANSWER_BY_PROBES || !filter->format->positions)
    return 0;
  filter->format->positions(&filter->shape, hash, positions);
  for (uint32_t i = 0; i < filter->shape.nprobes; i++)
    positions[i] += 8 * (uint64_t)filter->format->header_nbytes;
  return filter->shape.nprobes;
}
