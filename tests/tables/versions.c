/* MANIFESTs made by hand: which tables and logs are left after their edits.
 * SPDX-License-Identifier: MIT */
#include "log_files.h"
#include "tables.h"
#include "tables/version.h"

#define TABLE(level, number) "\7" level number "\144" BOUNDS

static struct log_file manifest;
static lanebloom_engine engine = LANEBLOOM_ENGINE_ROCKSDB;

static lanebloom_status read_version(struct version *version)
{
  const struct input input = {.file = -1, .bytes = manifest.bytes, .nbytes = manifest.n};
  const lanebloom_status status = lanebloom_version_read(version, &input, engine, &no_problem);
  log_clear(&manifest);
  return status;
}

#define ADD_EDIT(edit) log_add(&manifest, edit, sizeof(edit) - 1)

static void check_version(const char *what, size_t ntables, uint64_t last_number, uint64_t min_log)
{
  struct version version;
  cr_assert(read_version(&version) == LANEBLOOM_OK, "%s", what);
  cr_assert(version.ntables == ntables, "%s: %zu tables", what, version.ntables);
  cr_assert(ntables == 0 || version.tables[ntables - 1].number == last_number, "%s", what);
  cr_assert(version.min_log == min_log, "%s", what);
  lanebloom_version_free(&version);
}

/* Checks the number of logs that must exist, and the number of the last one. */
static void check_logs(const char *what, size_t nlogs, uint64_t last)
{
  struct version version;
  cr_assert(read_version(&version) == LANEBLOOM_OK, "%s", what);
  cr_assert(version.nlogs == nlogs, "%s: %zu logs", what, version.nlogs);
  cr_assert(nlogs == 0 || version.logs[nlogs - 1] == last, "%s", what);
  lanebloom_version_free(&version);
}

static void check_refused(const char *what, lanebloom_status expected)
{
  struct version version;
  cr_assert(read_version(&version) == expected, "%s", what);
}

Test(tables, versions)
{
  ADD_EDIT(NUMBERS);
  ADD_EDIT(TABLE("\0", "\6"));
  ADD_EDIT(TABLE("\1", "\6") "\6\0\6"); /* moves the table */
  check_version("a move", 1, 6, 5);
  ADD_EDIT(NUMBERS);
  ADD_EDIT(TABLE("\0", "\6"));
  ADD_EDIT("\6\0\6" TABLE("\1", "\7"));
  ADD_EDIT("\6\1\7");
  check_version("deletions", 0, 0, 5);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\2\6\254\2\1" TABLE("\0", "\6"));
  check_version("half a group", 0, 0, 5);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\2\6\254\2\1" TABLE("\0", "\6"));
  ADD_EDIT(TABLE("\0", "\7") "\254\2\0");
  check_version("a group", 2, 7, 6);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\310\1\1\311\1\1f\2\4"); /* family 1, named f, with log 4 */
  ADD_EDIT("\310\1\1" TABLE("\0", "\6"));
  check_version("a family", 1, 6, 4);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\310\1\1\311\1\1f\2\4");
  ADD_EDIT("\310\1\1" TABLE("\0", "\6"));
  ADD_EDIT("\310\1\1\312\1");
  check_version("a family that is dropped", 0, 0, 5);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\12\3\12\2"); /* RocksDB's lowest log; the highest value counts */
  check_version("logs to keep", 0, 0, 3);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\211\100\1x"); /* tag 8201 may be skipped */
  log_add_fragment(&manifest, FIRST, TABLE("\0", "\6"), 5);
  check_version("a torn end", 0, 0, 5);

  ADD_EDIT(NUMBERS);
  ADD_EDIT("\213\2x"); /* tag 267 must be known */
  check_refused("a tag that is not known", LANEBLOOM_ERR_LIMIT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\310\1\1" TABLE("\0", "\6"));
  check_refused("no such family", LANEBLOOM_ERR_CORRUPT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\7\0\6");
  check_refused("half a table", LANEBLOOM_ERR_CORRUPT);
  ADD_EDIT("\2\5\3\11");
  check_refused("no sequence number", LANEBLOOM_ERR_CORRUPT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\2\6\254\2\2");
  ADD_EDIT("\2\6\254\2\0");
  check_refused("a group with a gap", LANEBLOOM_ERR_CORRUPT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\2\6\254\2\1");
  ADD_EDIT("\2\6");
  check_refused("an edit within a group", LANEBLOOM_ERR_CORRUPT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\2\6");
  manifest.bytes[0]++;
  check_refused("a checksum", LANEBLOOM_ERR_CORRUPT);
}

#define LOG(number) "\204\100" number "\1"
#define LOGS_BELOW_ARE_DELETED(number) "\205\100" number
#define IN_GROUP(nfollowing) "\254\2" nfollowing

/* An edit counts once, and only if it and its group are complete. */
Test(tables, versions_in_groups)
{
  ADD_EDIT(NUMBERS);
  ADD_EDIT(LOG("\6") IN_GROUP("\1"));
  check_logs("half a group with a log", 0, 0);
  ADD_EDIT(NUMBERS LOG("\6"));
  ADD_EDIT(LOGS_BELOW_ARE_DELETED("\7") IN_GROUP("\1"));
  check_logs("half a group without a log", 1, 6);
  ADD_EDIT(NUMBERS LOG("\6"));
  ADD_EDIT(LOG("\10") IN_GROUP("\1"));
  ADD_EDIT(LOGS_BELOW_ARE_DELETED("\7") IN_GROUP("\0"));
  check_logs("a group with logs", 1, 8);
  ADD_EDIT(NUMBERS LOG("\6"));
  ADD_EDIT(LOG("\7") IN_GROUP("\1"));
  log_add_fragment(&manifest, FIRST, IN_GROUP("\0"), 2);
  check_logs("a group whose last edit is torn", 1, 6);
  ADD_EDIT(NUMBERS);
  log_add_fragment(&manifest, FIRST, LOG("\6"), 4);
  check_logs("a log that is torn", 0, 0);

  ADD_EDIT(NUMBERS LOG("\10") LOG("\6") LOG("\7") LOG("\6"));
  check_logs("logs in any order", 3, 8);
  ADD_EDIT(NUMBERS LOG("\6") LOG("\7"));
  ADD_EDIT(LOGS_BELOW_ARE_DELETED("\7"));
  check_logs("a log that is deleted", 1, 7);
  ADD_EDIT(NUMBERS LOGS_BELOW_ARE_DELETED("\7"));
  ADD_EDIT(LOG("\6"));
  check_logs("a log that was deleted before", 0, 0);

  ADD_EDIT("\2\5\4\144");
  ADD_EDIT("\3\11" IN_GROUP("\1"));
  check_refused("half a group with the next file", LANEBLOOM_ERR_CORRUPT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\310\1\1\311\1\1f" IN_GROUP("\1"));
  ADD_EDIT("\310\1\1" TABLE("\0", "\6") IN_GROUP("\0"));
  check_version("a group that adds a family", 1, 6, 0);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\310\1\1\311\1\1f" IN_GROUP("\1"));
  manifest.n -= 3; /* the edit is torn */
  check_version("half an edit of a group", 0, 0, 5);
}

#define PART(number, backing)                                                                      \
  "\147\6" number "\144" BOUNDS "\1\2"                                                             \
  "\102" backing "\1"

Test(tables, versions_of_pebble)
{
  engine = LANEBLOOM_ENGINE_PEBBLE;
  ADD_EDIT("\3\11\4\144");
  check_version("nothing was flushed yet", 0, 0, 0);
  ADD_EDIT(NUMBERS);
  ADD_EDIT("\150\0\6\144"
           "\0" BOUNDS "\1\2\1"); /* only range keys */
  ADD_EDIT("\150\0\7\144"
           "\7" BOUNDS BOUNDS "\1\2\6\1x\1"); /* range keys and points */
  check_version("tables with range keys", 2, 7, 5);
  ADD_EDIT(NUMBERS TABLE("\6", "\6"));
  ADD_EDIT("\6\6\6"
           "\151\6\144" PART("\7", "\6") PART("\10", "\6"));
  check_version("two parts of a table", 1, 6, 5);
  ADD_EDIT(NUMBERS TABLE("\6", "\6"));
  ADD_EDIT("\6\6\6"
           "\151\6\144" PART("\7", "\6"));
  ADD_EDIT("\6\6\7"
           "\152\6");
  check_version("a part that is deleted", 0, 0, 5);
  ADD_EDIT(NUMBERS "\12\1a\1b\1\2"
                   "\13\6\7"
                   "\153\1\2\3\4\5"
                   "\154\1\2");
  ADD_EDIT("\147\6\6\144" BOUNDS "\1\2"
           "\105\1\2\1\2\3\4"
           "\106\1\1\1\2\3"
           "\1");
  check_version("values in other files", 1, 6, 5);

  ADD_EDIT(NUMBERS);
  ADD_EDIT("\147\6\6\144" BOUNDS "\1\2"
           "\103\1p\1");
  check_refused("a table of keys that begin otherwise in its file", LANEBLOOM_ERR_LIMIT);
  ADD_EDIT(NUMBERS "\310\1\1");
  check_refused("a column family", LANEBLOOM_ERR_LIMIT);
  ADD_EDIT(NUMBERS "\211\100\1x");
  check_refused("a tag that is not known", LANEBLOOM_ERR_LIMIT);
  ADD_EDIT(NUMBERS);
  ADD_EDIT(NUMBERS);
  manifest.bytes[HEADER_NBYTES + sizeof NUMBERS - 1 + AT_TYPE] = SYNCED + FULL; /* only in logs */
  check_refused("a type of fragment", LANEBLOOM_ERR_CORRUPT);
}

/* Checks an edit, given as its bytes. */
static void check_edit(const char *what, unsigned number, const void *edit, size_t nbytes,
                       lanebloom_status expected)
{
  struct version version;
  log_add(&manifest, edit, nbytes);
  const lanebloom_status status = read_version(&version);
  cr_assert(status == expected, "%s %u: %s", what, number, lanebloom_status_text(status));
  if (!status)
    lanebloom_version_free(&version);
}

/* Every tag of Pebble has values, so a tag without values is damaged if it is known. */
Test(tables, tags_of_pebble)
{
  static const unsigned known[] = {1,  2,   3,   4,   5,   6,   7,   9,   10,
                                   11, 100, 102, 103, 104, 105, 106, 107, 108};
  enum { ALL = 1 << 14 };
  engine = LANEBLOOM_ENGINE_PEBBLE;
  for (unsigned tag = 0, i = 0; tag < ALL; tag++) {
    const bool is_known = i < sizeof known / sizeof *known && known[i] == tag;
    const uint8_t edit[] = {(uint8_t)(tag | 0x80), (uint8_t)(tag >> 7)};
    ADD_EDIT(NUMBERS);
    check_edit("tag", tag, edit, sizeof edit,
               is_known ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_ERR_LIMIT);
    i += is_known;
  }
}

/* Fields without the bit 64 may be skipped, so later versions of Pebble may add some of them. */
Test(tables, fields_of_pebble)
{
  enum { END = 1, BACKING = 66, NFIELDS = 128, NBEFORE = sizeof("\147\6\6\144" BOUNDS "\1\2") - 1 };
  engine = LANEBLOOM_ENGINE_PEBBLE;
  for (unsigned field = 0; field < NFIELDS; field++) {
    uint8_t edit[] = "\147\6\6\144" BOUNDS "\1\2?\1\0\1";
    edit[NBEFORE] = (uint8_t)field;
    /* The bytes after the field are one string; or a number and an empty list. */
    const bool is_known = field < 64 || field == 65 || field == 69 || field == 70;
    if (field == END || field == BACKING)
      continue;
    ADD_EDIT(NUMBERS);
    check_edit("field", field, edit, sizeof edit - 1,
               is_known ? LANEBLOOM_OK : LANEBLOOM_ERR_LIMIT);
  }
}

/* Edits of Pebble's format versions 21 to 30, cut anywhere but between two tags. */
Test(tables, cut_edits_of_pebble)
{
#define WHOLE(edit) ((lanebloom_slice){edit, sizeof(edit) - 1})
  const lanebloom_slice edits[] = {
      WHOLE("\12\1a\1b\1\2"),
      WHOLE("\12\0\0\200\1\377\377\377\377\377\377\377\377\377\1"),
      WHOLE("\13\6\300\4"),
      WHOLE("\151\6\144"),
      WHOLE("\152\6"),
      WHOLE("\153\1\2\3\4\5"),
      WHOLE("\154\1\2"),
      WHOLE("\147\6\6\144" BOUNDS "\1\2\105\1\2\1\2\3\4\1"),
      WHOLE("\147\6\6\144" BOUNDS "\1\2\106\1\2\1\2\3\4\5\6\1"),
      WHOLE("\150\0\6\144\7" BOUNDS BOUNDS "\1\2\106\1\1\1\2\3\1"),
  };
  engine = LANEBLOOM_ENGINE_PEBBLE;
  for (unsigned i = 0; i < sizeof edits / sizeof *edits; i++)
    for (size_t n = 1; n <= edits[i].size; n++) {
      ADD_EDIT(NUMBERS);
      check_edit("edit", i, edits[i].data, n,
                 n < edits[i].size ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK);
    }
}

/* ---- Frozen MANIFESTs ---- */

/* After Pebble closes a database, its folder has the files of its tables, and no others. */
Test(tables, frozen_manifests_of_pebble)
{
  enum { NFILES = 8 };
  char path[PATH_NBYTES], *line = NULL;
  size_t room = 0, nfiles = 0;
  snprintf(path, sizeof path, "%s/pebble_manifests.txt", LANEBLOOM_TEST_VECTORS);
  FILE *file = fopen(path, "r");
  cr_assert(file);
  engine = LANEBLOOM_ENGINE_PEBBLE;
  while (getline(&line, &room, file) > 0) {
    if (line[0] == '#')
      continue;
    char *rest = line, *format = strtok_r(rest, " ", &rest), *numbers = strtok_r(rest, " ", &rest),
         *hex = strtok_r(rest, " \n", &rest);
    test_context("row %zu, format version %s", ++nfiles, format);
    manifest.room = strlen(hex) / 2;
    manifest.bytes = test_alloc(manifest.room);
    manifest.n = hex_decode(hex, manifest.bytes, manifest.room);
    struct version version;
    cr_assert(read_version(&version) == LANEBLOOM_OK);
    for (size_t i = 0; i < version.ntables; i++) {
      const char *number = strtok_r(numbers, ",", &numbers);
      cr_assert(number && strtoull(number, NULL, 10) == version.tables[i].number, "table %zu", i);
    }
    cr_assert(version.ntables == 0 ? strcmp(numbers, "-") == 0 : numbers[0] == 0, "%s", numbers);
    lanebloom_version_free(&version);
  }
  cr_assert(nfiles == NFILES);
  free(line);
  fclose(file);
}
