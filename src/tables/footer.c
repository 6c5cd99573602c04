/* Reads footers. The list shows their forms. "handles" are the handles of metaindex and index;
 * sizes are in bytes.
 *
 *   LevelDB, RocksDB 0          handles, padded to 40 | magic
 *   RocksDB and Pebble, 1 to 5  checksum type | handles, padded to 40 | version | magic
 *   Pebble 6                    checksum type | handles, padded to 40 | checksum | version | magic
 *   Pebble 7 and 8              checksum type | handles, padded to 40 | attributes | checksum
 *                               | version | magic
 *   RocksDB 6 and 7             checksum type | mark | checksum | base | metaindex size | 0 ...
 *                               | version | magic
 *   bytes of RocksDB 6 and 7    1 | 4 | 4 | 4 | 4 | 24 | 4 | 8
 *
 * Pebble's checksum is of all bytes of the footer but its own 4. The attributes tell what kinds of
 * keys and blocks the table has; they are not needed.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "../common/bytes.h"
#include "footer.h"

enum {
  MAGIC_NBYTES = 8,
  VERSION_NBYTES = 4,
  HANDLES_NBYTES = 40,
  SHORT_NBYTES = HANDLES_NBYTES + MAGIC_NBYTES,
  LONG_NBYTES = 1 + HANDLES_NBYTES + VERSION_NBYTES + MAGIC_NBYTES,
  CHECKSUM_NBYTES = 4,
  ATTRIBUTES_NBYTES = 4,
  MAX_NBYTES = LONG_NBYTES + CHECKSUM_NBYTES + ATTRIBUTES_NBYTES,

  /* The offsets of fields in RocksDB's footer from version 6 on. */
  AT_MARK = 1,
  AT_CHECKSUM = 5,
  AT_BASE = 9,
  AT_METAINDEX_NBYTES = 13,
  AT_ZEROS = 33, /* RocksDB requires zeros here */
  ZEROS_NBYTES = 8,

  MAX_ROCKSDB_VERSION = 7,
  FIRST_ROCKSDB_WITH_BASE = 6,
  MAX_PEBBLE_VERSION = 8,
  FIRST_PEBBLE_WITH_CHECKSUM = 6,
  FIRST_PEBBLE_WITH_ATTRIBUTES = 7,
};

static const uint64_t MAGIC_LEVELDB = 0xdb4775248b80fb57, MAGIC_ROCKSDB = 0x88e241b785f4cff7,
                      MAGIC_PEBBLE = 0xb3aa9ff0b3aa9ff0;
static const uint8_t mark[4] = {0x3e, 0x00, 0x7a, 0x00};

/* Magic numbers of RocksDB tables that have no blocks. */
static const uint64_t MAGIC_PLAIN = 0x8242229663bf9564, MAGIC_OLD_PLAIN = 0x4f3418eb7a8f13b8,
                      MAGIC_CUCKOO = 0x926789d0c5f17873;

static bool is_without_blocks(uint64_t magic)
{
  return magic == MAGIC_PLAIN || magic == MAGIC_OLD_PLAIN || magic == MAGIC_CUCKOO;
}

bool lanebloom_footer_ends_table(const uint8_t bytes[FOOTER_END_NBYTES])
{
  const uint64_t magic = load_le64(bytes + VERSION_NBYTES);
  const bool has_version = bytes[VERSION_NBYTES - 1] == 0; /* the version's high byte is 0 */
  return magic == MAGIC_LEVELDB || magic == MAGIC_ROCKSDB || is_without_blocks(magic) ||
         (magic == MAGIC_PEBBLE && has_version);
}

static lanebloom_status read_handles(const uint8_t *bytes, struct footer *footer,
                                     const struct problem *problem)
{
  struct cursor rest = {bytes, bytes + HANDLES_NBYTES};
  footer->has_index = true;
  if (cursor_handle(&rest, &footer->metaindex) && cursor_handle(&rest, &footer->index))
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged footer at %" PRIu64
                     ": expected the positions of metaindex and index, found no numbers",
                     footer->offset);
}

static lanebloom_status read_based(const uint8_t *bytes, struct footer *footer,
                                   const struct problem *problem)
{
  static const uint8_t zeros[ZEROS_NBYTES];
  footer->checksum_base = load_le32(bytes + AT_BASE);
  if (memcmp(bytes + AT_MARK, mark, sizeof mark) != 0 || footer->checksum_base == 0 ||
      memcmp(bytes + AT_ZEROS, zeros, sizeof zeros) != 0)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged footer at %" PRIu64
                       ": expected the fields of format_version %" PRIu32 ", found others",
                       footer->offset, footer->version);
  uint8_t zeroed[LONG_NBYTES];
  memcpy(zeroed, bytes, sizeof zeroed);
  store_le32(zeroed + AT_CHECKSUM, 0);
  const uint32_t expected = load_le32(bytes + AT_CHECKSUM);
  const uint32_t found = lanebloom_checksum(footer->checksum, zeroed, sizeof zeroed) +
                         lanebloom_checksum_context(footer->checksum_base, footer->offset);
  if (expected != found)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged footer at %" PRIu64 ": expected checksum %08" PRIx32
                       ", found %08" PRIx32,
                       footer->offset, expected, found);
  footer->metaindex.nbytes = load_le32(bytes + AT_METAINDEX_NBYTES);
  if (footer->offset < BLOCK_TRAILER_NBYTES + footer->metaindex.nbytes)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged footer: expected a metaindex before %" PRIu64
                       ", found one of %" PRIu64 " bytes",
                       footer->offset, footer->metaindex.nbytes);
  footer->metaindex.offset = footer->offset - BLOCK_TRAILER_NBYTES - footer->metaindex.nbytes;
  return LANEBLOOM_OK;
}

/* Verifies the checksum of Pebble's footers, which is CRC32C for every checksum type. */
static lanebloom_status verify_pebble(const uint8_t *bytes, size_t nbytes,
                                      const struct footer *footer, const struct problem *problem)
{
  const size_t behind_nbytes = VERSION_NBYTES + MAGIC_NBYTES;
  const size_t at = nbytes - behind_nbytes - CHECKSUM_NBYTES;
  uint8_t summed[MAX_NBYTES];
  memcpy(summed, bytes, at);
  memcpy(summed + at, bytes + nbytes - behind_nbytes, behind_nbytes);
  const uint32_t expected = load_le32(bytes + at),
                 found = lanebloom_checksum(CHECKSUM_CRC32C, summed, nbytes - CHECKSUM_NBYTES);
  if (expected == found)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged footer at %" PRIu64 ": expected checksum %08" PRIx32
                     ", found %08" PRIx32,
                     footer->offset, expected, found);
}

const char *lanebloom_footer_engine(const struct footer *footer)
{
  return footer->engine == LANEBLOOM_ENGINE_PEBBLE    ? "Pebble"
         : footer->engine == LANEBLOOM_ENGINE_LEVELDB ? "LevelDB"
                                                      : "RocksDB";
}

static size_t footer_nbytes(const struct footer *footer)
{
  const bool has_checksum = footer->engine == LANEBLOOM_ENGINE_PEBBLE &&
                            footer->version >= FIRST_PEBBLE_WITH_CHECKSUM,
             has_attributes = has_checksum && footer->version >= FIRST_PEBBLE_WITH_ATTRIBUTES;
  return LONG_NBYTES + (has_checksum ? CHECKSUM_NBYTES : 0u) +
         (has_attributes ? ATTRIBUTES_NBYTES : 0u);
}

/* Reads a footer that has a version, which only RocksDB and Pebble write. */
static lanebloom_status read_long(const uint8_t *bytes, size_t nbytes, uint64_t file_nbytes,
                                  struct footer *footer, const struct problem *problem)
{
  const char *engine = lanebloom_footer_engine(footer);
  const uint32_t newest =
      footer->engine == LANEBLOOM_ENGINE_PEBBLE ? MAX_PEBBLE_VERSION : MAX_ROCKSDB_VERSION;
  footer->version = load_le32(bytes + nbytes - MAGIC_NBYTES - VERSION_NBYTES);
  if (footer->version == 0 || footer->version > newest)
    return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                       "%s's format_version: expected 1 to %" PRIu32 ", found %" PRIu32
                       "; a newer lanebloom may read it",
                       engine, newest, footer->version);
  const size_t expected_nbytes = footer_nbytes(footer);
  if (nbytes < expected_nbytes)
    return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                       "truncated: expected %s's footer of %zu bytes, found %zu", engine,
                       expected_nbytes, nbytes);
  bytes += nbytes - expected_nbytes;
  footer->offset = file_nbytes - expected_nbytes;
  if (bytes[0] >= CHECKSUM_END)
    return problem_set(
        problem, LANEBLOOM_ERR_LIMIT,
        "checksum type: expected one below %d, found %u; a newer lanebloom may read it",
        CHECKSUM_END, bytes[0]);
  footer->checksum = (enum checksum)bytes[0];
  if (footer->engine == LANEBLOOM_ENGINE_ROCKSDB && footer->version >= FIRST_ROCKSDB_WITH_BASE)
    return read_based(bytes, footer, problem);
  if (expected_nbytes > LONG_NBYTES) {
    const lanebloom_status status = verify_pebble(bytes, expected_nbytes, footer, problem);
    if (status)
      return status;
  }
  return read_handles(bytes + 1, footer, problem);
}

/* Explains why a file has no footer. The footer is written last, so a file that was changed
 * recently may not have it yet. */
static const char *explain_no_footer(const struct input *input)
{
  return lanebloom_input_is_recent(input) ? "not a table, or one that is being written (try again)"
                                          : "not a table, or a truncated one";
}

lanebloom_status lanebloom_footer_read(const struct input *input, struct footer *footer,
                                       const struct problem *problem)
{
  uint8_t bytes[MAX_NBYTES];
  const size_t nbytes = input->nbytes < sizeof bytes ? (size_t)input->nbytes : sizeof bytes;
  *footer = (struct footer){.checksum = CHECKSUM_CRC32C};
  if (nbytes == 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT, "an empty file: %s",
                       explain_no_footer(input));
  if (nbytes < SHORT_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "%s: expected a file of at least %d bytes, found %" PRIu64,
                       explain_no_footer(input), SHORT_NBYTES, input->nbytes);
  lanebloom_status status =
      lanebloom_input_read(input, input->nbytes - nbytes, bytes, nbytes, problem);
  if (status)
    return status;

  const uint64_t magic = load_le64(bytes + nbytes - MAGIC_NBYTES);
  if (magic == MAGIC_LEVELDB) {
    footer->engine =
        LANEBLOOM_ENGINE_LEVELDB; /* or RocksDB with format_version 0; the properties tell */
    footer->offset = input->nbytes - SHORT_NBYTES;
    return read_handles(bytes + nbytes - SHORT_NBYTES, footer, problem);
  }
  if (magic == MAGIC_ROCKSDB || magic == MAGIC_PEBBLE) {
    footer->engine = magic == MAGIC_ROCKSDB ? LANEBLOOM_ENGINE_ROCKSDB : LANEBLOOM_ENGINE_PEBBLE;
    return read_long(bytes, nbytes, input->nbytes, footer, problem);
  }
  if (is_without_blocks(magic))
    return problem_set(
        problem, LANEBLOOM_ERR_LIMIT,
        "expected a block-based table, found a %s table of RocksDB, which is not read",
        magic == MAGIC_CUCKOO ? "cuckoo" : "plain");
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "%s: expected LevelDB's, RocksDB's or Pebble's magic number in the last 8 "
                     "bytes, found %016" PRIx64,
                     explain_no_footer(input), magic);
}
