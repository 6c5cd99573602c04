/* The one list of formats, and finding one in it.
 * SPDX-License-Identifier: MIT */
#include "format.h"

static const struct format_table *const formats[] = {
    &lanebloom_format_leveldb,       &lanebloom_format_leveldb_signed, &lanebloom_format_rocksdb,
    &lanebloom_format_rocksdb_local, &lanebloom_format_rocksdb_legacy,
};
enum { NFORMATS = sizeof formats / sizeof *formats };

const struct format_table *lanebloom_format_table(lanebloom_format id)
{
  for (size_t i = 0; i < NFORMATS; i++)
    if (formats[i]->id == id)
      return formats[i];
  return NULL;
}

lanebloom_status lanebloom_format_find(lanebloom_format id, const struct format_table **format)
{
  if (!lanebloom_kernels_current())
    return LANEBLOOM_ERR_KERNEL;
  *format = lanebloom_format_table(id);
  return *format ? LANEBLOOM_OK : LANEBLOOM_ERR_FORMAT;
}

lanebloom_status lanebloom_format_find_to_build(lanebloom_format id,
                                                const struct format_table **format)
{
  lanebloom_status status = lanebloom_format_find(id, format);
  return status ? status : (*format)->plan ? LANEBLOOM_OK : LANEBLOOM_ERR_FORMAT;
}

const char *lanebloom_format_name(lanebloom_format id)
{
  const struct format_table *format = lanebloom_format_table(id);
  return format ? format->name : "unknown";
}

size_t lanebloom_format_hash_size(lanebloom_format id)
{
  const struct format_table *format = lanebloom_format_table(id);
  return format && format->plan ? HASH_NBYTES[format->hash] : 0;
}
