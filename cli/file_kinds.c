/* The first bytes of files.
 * SPDX-License-Identifier: MIT */
#include "file_kinds.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TAR_NBYTES = 262 }; /* of a header, that tell it */

static const char container[] = "a lanebloom container";

/* Records are unlikely to begin with these bytes. Where none of them is a terminator, they are all
 * read before the first record is complete. */
static const struct file_kind kinds[] = {
    {.name = container, .nbytes = CONTAINER_MAGIC_NBYTES, .magic = {0x89, 'L', 'B', 'F'}},
    /* after the name the first field of a page's header, or of a footer: a number */
    {.name = "a Parquet file",
     .nbytes = 5,
     .magic = {'P', 'A', 'R', '1', 0x15},
     .advice =
         "`lanebloom screen --parquet' asks it for keys (quote a pattern of files), and records "
         "come from elsewhere"},
    {.name = "gzip data",
     .nbytes = 3,
     .magic = {0x1f, 0x8b, 0x08},
     .codec = CODEC_GZIP,
     .converter = "zcat"},
    {.name = "zstd data",
     .nbytes = 4,
     .magic = {0x28, 0xb5, 0x2f, 0xfd},
     .codec = CODEC_ZSTD,
     .converter = "zstdcat"},
    /* a frame to be skipped, with which parallel compressors begin: sixteen numbers */
    {.name = "zstd data",
     .nbytes = 4,
     .magic = {0x50, 0x2a, 0x4d, 0x18},
     .first_mask = 0x0f,
     .codec = CODEC_ZSTD,
     .converter = "zstdcat"},
    {.name = "lz4 data", .nbytes = 4, .magic = {0x04, 0x22, 0x4d, 0x18}, .converter = "lz4cat"},
    {.name = "xz data", .nbytes = 5, .magic = {0xfd, '7', 'z', 'X', 'Z'}, .converter = "xzcat"},
    /* as `bzip2' writes it without options: other levels are not worth nine rows */
    {.name = "bzip2 data",
     .nbytes = 10,
     .magic = {'B', 'Z', 'h', '9', '1', 'A', 'Y', '&', 'S', 'Y'},
     .converter = "bzcat"},
    {.name = "a zip archive, or a document that is one (.xlsx, .ods)",
     .nbytes = 4,
     .magic = {'P', 'K', 3, 4},
     .advice = "`unzip -p' prints what is in an archive; a spreadsheet can be saved as CSV"},
    {.name = "7z data",
     .nbytes = 6,
     .magic = {'7', 'z', 0xbc, 0xaf, 0x27, 0x1c},
     .converter = "7z x -so"},
    {.name = "a database of SQLite",
     .nbytes = 15,
     .magic = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a', 't', ' ', '3'},
     .advice = "`sqlite3 FILE \"SELECT ...\"' prints records"},
    {.name = "a file of Arrow (Feather)",
     .nbytes = 6,
     .magic = {'A', 'R', 'R', 'O', 'W', '1'},
     .advice = "pyarrow or DuckDB can write its columns as CSV"},
    {.name = "a program (ELF)",
     .nbytes = 4,
     .magic = {0x7f, 'E', 'L', 'F'},
     .advice = "it has no records"},
    {.name = "UTF-32 text",
     .nbytes = 4,
     .magic = {0xff, 0xfe, 0, 0},
     .has_terminators = true,
     .converter = "iconv -f UTF-32 -t UTF-8"},
    {.name = "UTF-32 text",
     .nbytes = 4,
     .magic = {0, 0, 0xfe, 0xff},
     .has_terminators = true,
     .converter = "iconv -f UTF-32 -t UTF-8"},
    {.name = "UTF-16 text",
     .nbytes = 2,
     .magic = {0xff, 0xfe},
     .converter = "iconv -f UTF-16 -t UTF-8"},
    {.name = "UTF-16 text",
     .nbytes = 2,
     .magic = {0xfe, 0xff},
     .converter = "iconv -f UTF-16 -t UTF-8"},
    {.name = "a tar archive", /* see is_tar() */
     .nbytes = TAR_NBYTES,
     .has_terminators = true,
     .converter = "tar -xOf"},
};

/* A header has the name of a file, zeros up to byte 100, a number in octal digits, and a magic
 * number at byte 257. */
static bool is_tar(const char *bytes)
{
  enum { NAME_NBYTES = 100, MAGIC_AT = 257 };
  if (memcmp(bytes + MAGIC_AT, "ustar", TAR_NBYTES - MAGIC_AT) != 0)
    return false;
  for (size_t i = strnlen(bytes, NAME_NBYTES); i < NAME_NBYTES; i++)
    if (bytes[i])
      return false;
  return bytes[NAME_NBYTES] >= '0' && bytes[NAME_NBYTES] <= '7';
}

static bool may_be(const struct file_kind *kind, const char *bytes, size_t nbytes)
{
  if (kind->has_terminators && nbytes < kind->nbytes)
    return false;
  if (kind->nbytes == TAR_NBYTES)
    return is_tar(bytes);
  if (nbytes == 0)
    return true;
  const size_t ncompared = nbytes < kind->nbytes ? nbytes : kind->nbytes;
  return ((unsigned char)*bytes & ~kind->first_mask) == kind->magic[0] &&
         memcmp(bytes + 1, kind->magic + 1, ncompared - 1) == 0;
}

const struct file_kind *find_file_kind(const char *bytes, size_t nbytes)
{
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (may_be(&kinds[i], bytes, nbytes))
      return &kinds[i];
  return NULL;
}

const struct file_kind *find_whole_file_kind(const char *bytes, size_t nbytes)
{
  const struct file_kind *kind = find_file_kind(bytes, nbytes);
  return kind && nbytes >= kind->nbytes ? kind : NULL;
}

bool is_container_magic(const char bytes[CONTAINER_MAGIC_NBYTES])
{
  const struct file_kind *kind = find_whole_file_kind(bytes, CONTAINER_MAGIC_NBYTES);
  return kind && kind->name == container;
}

bool is_stump(const struct file_kind *kind, size_t nbytes)
{
  return kind->codec && !kind->first_mask && nbytes > 1 && nbytes < kind->nbytes;
}

void describe_file_kind(const struct file_kind *kind, const struct input_messages *messages,
                        char *text, size_t size)
{
  if (kind->converter)
    snprintf(text, size, "expected records, found %s: run %s FILE | lanebloom %s ...", kind->name,
             kind->converter, messages->verb);
  else
    snprintf(text, size, "expected records, found %s: %s", kind->name,
             kind->advice ? kind->advice : messages->container_advice);
}
