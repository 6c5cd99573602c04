/* Has the list of all formats, and finds formats in it.
 * SPDX-License-Identifier: MIT */
#include "format.h"

#include "info.h"

static const struct format_table *const formats[] = {
    &lanebloom_format_leveldb,       &lanebloom_format_leveldb_signed,
    &lanebloom_format_rocksdb,       &lanebloom_format_rocksdb_legacy,
    &lanebloom_format_rocksdb_local, &lanebloom_format_rocksdb_ribbon,
    &lanebloom_format_parquet,       &lanebloom_format_spark_v1,
    &lanebloom_format_spark_v2,      &lanebloom_format_pebble_binaryfuse,
    &lanebloom_format_dcso,          &lanebloom_format_dcso_signed,
    &lanebloom_format_guava_32,      &lanebloom_format_guava_64,
    &lanebloom_format_guava,         &lanebloom_format_cassandra,
    &lanebloom_format_cassandra_3,   &lanebloom_format_cassandra_2,
    &lanebloom_format_hudi,
};
enum { NFORMATS = sizeof formats / sizeof *formats };

const struct format_table *lanebloom_format_listed(size_t i)
{
  return i < NFORMATS ? formats[i] : NULL;
}

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

size_t lanebloom_format_count(void)
{
  return NFORMATS;
}

lanebloom_format lanebloom_format_at(size_t i)
{
  return i < NFORMATS ? formats[i]->id : (lanebloom_format)0;
}

lanebloom_status lanebloom_format_problem(const struct problem *problem, lanebloom_status status,
                                          lanebloom_format id)
{
  if (status != LANEBLOOM_ERR_FORMAT)
    return problem_status(problem, status);
  return problem_set(problem, status, "expected a format of this build, found number %d", (int)id);
}

lanebloom_status lanebloom_format_check_size(const struct format_table *format, uint64_t nbytes,
                                             const struct problem *problem)
{
  if (nbytes <= format->max_nbytes)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_LIMIT,
                     "expected at most the %" PRIu64 " bytes that %s can hold, found %" PRIu64,
                     format->max_nbytes, format->name, nbytes);
}

bool lanebloom_format_by_name(const char *name, lanebloom_format *format)
{
  for (size_t i = 0; i < NFORMATS; i++)
    if (strcmp(name, formats[i]->name) == 0) {
      *format = formats[i]->id;
      return true;
    }
  return false;
}

const char *lanebloom_format_name(lanebloom_format id)
{
  const struct format_table *format = lanebloom_format_table(id);
  return format ? format->name : "unknown";
}

size_t lanebloom_format_hash_size(lanebloom_format id)
{
  const struct format_table *format = lanebloom_format_table(id);
  return format ? HASH_NBYTES[format->hash] : 0;
}

lanebloom_format lanebloom_format_hash(lanebloom_format id)
{
  const struct format_table *format = lanebloom_format_table(id);
  for (size_t i = 0; format && format->hash != HASH_NONE && i < NFORMATS; i++)
    if (formats[i]->hash == format->hash)
      return formats[i]->id;
  return id;
}

lanebloom_status lanebloom_format_describe(lanebloom_format id, lanebloom_format_info *info,
                                           size_t info_size)
{
  const struct format_table *format = lanebloom_format_table(id);
  if (!format)
    return LANEBLOOM_ERR_FORMAT;
  const lanebloom_format_info full = {
      .name = format->name,
      .text = format->text,
      .hash_size = lanebloom_format_hash_size(id),
      .builds = format->plan,
      .rounds_bits = format->rounds_bits,
      .min_nprobes = format->min_nprobes,
      .max_nprobes = format->max_nprobes,
      .min_bits_per_key = (double)format->min_millibits / 1000,
      .max_bits_per_key = (double)format->max_millibits / 1000,
      .bits_per_key_step = (double)format->step_millibits / 1000,
      .max_size = format->max_nbytes,
  };
  info_copy(info, info_size, &full, sizeof full);
  return LANEBLOOM_OK;
}
