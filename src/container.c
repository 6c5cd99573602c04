/* Writes the headers of containers, and checks and parses containers. docs/file-format.md defines
 * them.
 * SPDX-License-Identifier: MIT */
#include "container.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/bytes.h"

/* Like PNG's magic number, this one reveals damage by transfers in text mode: its first byte is not
 * ASCII, and it contains line ends, which such a transfer would change. */
static const uint8_t MAGIC[8] = {0x89, 'L', 'B', 'F', '\r', '\n', 0x1a, '\n'};

/* The version of a container is the first one that has the key form of its filter. So a reader that
 * does not know a key form refuses the container by its version. */
enum { VERSION_PLAIN = 1, VERSION_KEY_FORM = 2, VERSION_DIGEST = 3 };

/* The flags that the second version has. The third version has all flags. */
static const uint32_t FIRST_FLAGS =
    LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_LOWERED | LANEBLOOM_KEY_JOINED;

static const uint64_t MAX_MILLIBITS = (uint64_t)INT_MAX * 1000; /* no format allows more */

/* The offset of each field. Numbers are little-endian on every host. */
enum {
  AT_MAGIC = 0,
  AT_VERSION = 8,         /* u32 */
  AT_FORMAT = 12,         /* u32: lanebloom_format */
  AT_NKEYS = 16,          /* u64: all ones when unknown */
  AT_MILLIBITS = 24,      /* u64: bits per key in thousandths, all ones when unknown */
  AT_PAYLOAD_NBYTES = 32, /* u64 */
  AT_ENCODING = 40,       /* u16: lanebloom_encoding; in version 1: 0 */
  AT_FLAGS = 42,          /* u16: lanebloom_key_form.flags; in version 1: 0 */
  /* u32: the low half of XXH3-64 of the bytes before this field. When a file is mapped, only this
   * checksum is checked. */
  AT_HEADER_CHECKSUM = 44,
  AT_CHECKSUM = 48, /* u64: XXH3-64 of header and payload, with this field as 0 */
  AT_RESERVED = 56, /* u64: 0 */
};

bool lanebloom_container_begins(const uint8_t *bytes, uint64_t nbytes)
{
  return nbytes >= CONTAINER_HEADER_NBYTES && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
}

uint64_t lanebloom_container_payload_nbytes(const uint8_t *header)
{
  return load_le64(header + AT_PAYLOAD_NBYTES);
}

static lanebloom_key_form load_key_form(const uint8_t *header)
{
  const uint32_t both = load_le32(header + AT_ENCODING);
  return (lanebloom_key_form){(lanebloom_encoding)(both & 0xffff), both >> 16};
}

static void store_key_form(uint8_t *header, lanebloom_key_form form)
{
  store_le32(header + AT_ENCODING, (uint32_t)form.encoding | form.flags << 16);
}

static uint32_t version_of(lanebloom_key_form form)
{
  return form.flags & ~FIRST_FLAGS                      ? VERSION_DIGEST
         : same_key_form(form, (lanebloom_key_form){0}) ? VERSION_PLAIN
                                                        : VERSION_KEY_FORM;
}

static uint32_t header_checksum(const uint8_t *header)
{
  return (uint32_t)XXH3_64bits(header, AT_HEADER_CHECKSUM);
}

static uint64_t whole_checksum(const uint8_t *header, const void *payload, size_t nbytes)
{
  uint8_t zeroed[CONTAINER_HEADER_NBYTES];
  memcpy(zeroed, header, sizeof zeroed);
  store_le64(zeroed + AT_CHECKSUM, 0);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, zeroed, sizeof zeroed);
  XXH3_64bits_update(&state, payload, nbytes);
  return XXH3_64bits_digest(&state);
}

void lanebloom_container_write_header(const lanebloom_filter *filter,
                                      uint8_t header[CONTAINER_HEADER_NBYTES])
{
  const double bits = filter->facts.bits_per_key;
  memset(header, 0, CONTAINER_HEADER_NBYTES);
  memcpy(header + AT_MAGIC, MAGIC, sizeof MAGIC);
  store_le32(header + AT_VERSION, version_of(filter->facts.key_form));
  store_le32(header + AT_FORMAT, (uint32_t)filter->format->id);
  store_le64(header + AT_NKEYS, filter->facts.nkeys);
  store_le64(header + AT_MILLIBITS,
             isnan(bits) ? LANEBLOOM_UNKNOWN : (uint64_t)round(fmin(bits, INT_MAX) * 1000));
  store_le64(header + AT_PAYLOAD_NBYTES, filter->nbytes);
  store_key_form(header, filter->facts.key_form);
  store_le32(header + AT_HEADER_CHECKSUM, header_checksum(header));
  store_le64(header + AT_CHECKSUM, whole_checksum(header, filter->bytes, filter->nbytes));
}

/* Checks the key form in the header. A key form that an earlier version has is refused, too, so
 * that the same filter always has the same bytes. */
static lanebloom_status check_key_form(const uint8_t *header, uint32_t version,
                                       const struct problem *problem)
{
  const lanebloom_key_form form = load_key_form(header);
  if (version == VERSION_PLAIN && version_of(form) != VERSION_PLAIN)
    return problem_set(
        problem, LANEBLOOM_ERR_FORMAT,
        "key form: expected none in version %d, found encoding %d and flags %04" PRIx32,
        VERSION_PLAIN, (int)form.encoding, form.flags);
  if (!lanebloom_key_form_is_known(form) || version_of(form) != version)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "key form: expected an encoding up to %d and flags that version %" PRIu32
                       " has, found encoding %d and flags %04" PRIx32
                       "; a newer lanebloom may read it",
                       LANEBLOOM_UUID, version, (int)form.encoding, form.flags);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_container_check_header(const uint8_t *header, uint64_t found,
                                                  const struct problem *problem)
{
  if (found < sizeof MAGIC || memcmp(header, MAGIC, sizeof MAGIC) != 0) {
    char text[3 * sizeof MAGIC + 1] = " nothing";
    for (size_t i = 0; i < sizeof MAGIC && i < found; i++)
      snprintf(text + 3 * i, sizeof text - 3 * i, " %02x", header[i]);
    return problem_set(
        problem, LANEBLOOM_ERR_FORMAT,
        "not a lanebloom container: expected it to start with 89 4c 42 46 0d 0a 1a 0a, found%s",
        text);
  }
  if (found < CONTAINER_HEADER_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "truncated: expected a header of %d bytes, found %" PRIu64,
                       CONTAINER_HEADER_NBYTES, found);
  const uint32_t version = load_le32(header + AT_VERSION);
  if (version < VERSION_PLAIN || version > VERSION_DIGEST)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "container version: expected %d to %d, found %" PRIu32
                       "; a newer lanebloom may read it",
                       VERSION_PLAIN, VERSION_DIGEST, version);
  const uint32_t expected = load_le32(header + AT_HEADER_CHECKSUM), sum = header_checksum(header);
  if (expected != sum)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged header: expected checksum %08" PRIx32 ", found %08" PRIx32,
                       expected, sum);
  const lanebloom_status status = check_key_form(header, version, problem);
  if (status)
    return status;
  if (load_le64(header + AT_RESERVED) != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "reserved bytes: expected 0, found %016" PRIx64
                       "; a newer lanebloom may read it",
                       load_le64(header + AT_RESERVED));
  const uint64_t millibits = load_le64(header + AT_MILLIBITS);
  if (millibits > MAX_MILLIBITS && millibits != LANEBLOOM_UNKNOWN)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "bits per key: expected at most %" PRIu64 " thousandths, found %" PRIu64,
                       MAX_MILLIBITS, millibits);
  const uint32_t id = load_le32(header + AT_FORMAT);
  const struct format_table *format = lanebloom_format_table((lanebloom_format)id);
  if (!format)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "filter format: expected one that this lanebloom has, found number %" PRIu32,
                       id);
  const uint64_t nbytes = load_le64(header + AT_PAYLOAD_NBYTES);
  if (nbytes > format->max_nbytes)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "payload: expected at most the %" PRIu64
                       " bytes that %s can hold, found %" PRIu64,
                       format->max_nbytes, format->name, nbytes);
  return LANEBLOOM_OK;
}

static lanebloom_status check_size(const uint8_t *header, uint64_t found,
                                   const struct problem *problem)
{
  const uint64_t nbytes = load_le64(header + AT_PAYLOAD_NBYTES);
  if (found - CONTAINER_HEADER_NBYTES >
      nbytes) /* load() stops after one byte too many, so the true size may be unknown */
    return problem_set(
        problem, LANEBLOOM_ERR_CORRUPT,
        "too long: expected a payload of %" PRIu64 " bytes after the header, found more", nbytes);
  if (found - CONTAINER_HEADER_NBYTES < nbytes)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "truncated: expected a payload of %" PRIu64
                       " bytes after the header, found %" PRIu64,
                       nbytes, found - CONTAINER_HEADER_NBYTES);
  return LANEBLOOM_OK;
}

static lanebloom_status check_sum(const uint8_t *header, const uint8_t *payload, size_t nbytes,
                                  const struct problem *problem)
{
  const uint64_t expected = load_le64(header + AT_CHECKSUM);
  const uint64_t found = whole_checksum(header, payload, nbytes);
  if (expected == found)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged: expected checksum %016" PRIx64 ", found %016" PRIx64, expected,
                     found);
}

lanebloom_status lanebloom_container_open(const uint8_t *bytes, size_t nbytes, bool verify_sum,
                                          struct memory memory, const struct problem *problem,
                                          lanebloom_filter **filter)
{
  uint8_t header[CONTAINER_HEADER_NBYTES]; /* a copy: the bytes of a mapped file may change */
  if (nbytes > 0)
    memcpy(header, bytes, nbytes < sizeof header ? nbytes : sizeof header);
  lanebloom_status status = lanebloom_container_check_header(header, nbytes, problem);
  if (status)
    return status;
  const uint8_t *payload = bytes + sizeof header;
  const size_t payload_nbytes = nbytes - sizeof header;
  status = check_size(header, nbytes, problem);
  if (!status && verify_sum)
    status = check_sum(header, payload, payload_nbytes, problem);
  if (status)
    return status;

  const struct format_table *format =
      lanebloom_format_table((lanebloom_format)load_le32(header + AT_FORMAT));
  const uint64_t millibits = load_le64(header + AT_MILLIBITS);
  const struct filter_facts facts = {
      .nkeys = load_le64(header + AT_NKEYS),
      .bits_per_key = millibits == LANEBLOOM_UNKNOWN ? NAN : (double)millibits / 1000,
      .key_form = load_key_form(header)};
  return lanebloom_filter_adopt(format, payload, payload_nbytes, &facts, memory, filter, problem);
}

lanebloom_status lanebloom_filter_write(const lanebloom_filter *filter, void *bytes, size_t room,
                                        size_t *size)
{
  *size = CONTAINER_HEADER_NBYTES + filter->nbytes;
  if (*size > room)
    return LANEBLOOM_ERR_ROOM;
  uint8_t header[CONTAINER_HEADER_NBYTES];
  lanebloom_container_write_header(filter, header);
  memcpy(bytes, header, sizeof header);
  if (filter->nbytes > 0)
    memcpy((uint8_t *)bytes + sizeof header, filter->bytes, filter->nbytes);
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_parse(const void *bytes, size_t size, lanebloom_filter **filter,
                                        char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *filter = NULL;
  if (!lanebloom_kernels_current())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  if (!bytes && size > 0)
    return problem_no_bytes(&problem, size);
  struct memory borrowed = {.kind = MEMORY_BORROWED};
  return lanebloom_container_open(bytes, size, true, borrowed, &problem, filter);
}
