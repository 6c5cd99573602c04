/* The first bytes of files.
 * SPDX-License-Identifier: MIT */
#include "file_kinds.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Records are unlikely to begin with these bytes. None of them is a terminator, so they are all
 * read before the first record is complete. */
static const struct file_kind kinds[] = {
    {"a lanebloom container", 4, {0x89, 'L', 'B', 'F'}, 0, CODEC_NONE, NULL, NULL},
    /* after the name the first field of a page's header, or of a footer: a number */
    {"a Parquet file",
     5,
     {'P', 'A', 'R', '1', 0x15},
     0,
     CODEC_NONE,
     NULL,
     "`lanebloom screen --parquet' asks it for keys (quote a pattern of files), and records come "
     "from elsewhere"},
    {"gzip data", 3, {0x1f, 0x8b, 0x08}, 0, CODEC_GZIP, "zcat", NULL},
    {"zstd data", 4, {0x28, 0xb5, 0x2f, 0xfd}, 0, CODEC_ZSTD, "zstdcat", NULL},
    /* a frame to be skipped, with which parallel compressors begin: sixteen numbers */
    {"zstd data", 4, {0x50, 0x2a, 0x4d, 0x18}, 0x0f, CODEC_ZSTD, "zstdcat", NULL},
    {"lz4 data", 4, {0x04, 0x22, 0x4d, 0x18}, 0, CODEC_NONE, "lz4cat", NULL},
    {"xz data", 5, {0xfd, '7', 'z', 'X', 'Z'}, 0, CODEC_NONE, "xzcat", NULL},
    /* as `bzip2' writes it without options: other levels are not worth nine rows */
    {"bzip2 data",
     10,
     {'B', 'Z', 'h', '9', '1', 'A', 'Y', '&', 'S', 'Y'},
     0,
     CODEC_NONE,
     "bzcat",
     NULL},
    {"UTF-16 text", 2, {0xff, 0xfe}, 0, CODEC_NONE, "iconv -f UTF-16 -t UTF-8", NULL},
    {"UTF-16 text", 2, {0xfe, 0xff}, 0, CODEC_NONE, "iconv -f UTF-16 -t UTF-8", NULL},
};

static bool may_be(const struct file_kind *kind, const char *bytes, size_t nbytes)
{
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
