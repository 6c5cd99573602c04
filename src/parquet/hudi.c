/* Reads the filters and the ranges of record keys that Hudi writes into the footers of Parquet
 * files, and screens keys by them. Each of them is for all rows of the file.
 * Sources: Hudi 1.0.2, HoodieBloomFilterWriteSupport.java and ParquetUtils.java.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "../hits.h"
#include "../info.h"
#include "../keys.h"
#include "file.h"

static bool is_text(lanebloom_slice found, const char *text)
{
  return found.size == strlen(text) && memcmp(found.data, text, found.size) == 0;
}

/* Compares bytes as strcmp() does. */
static int compare(lanebloom_slice a, lanebloom_slice b)
{
  const size_t n = a.size < b.size ? a.size : b.size;
  const int order = n > 0 ? memcmp(a.data, b.data, n) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

void lanebloom_parquet_describe_hudi(const lanebloom_parquet *file,
                                     lanebloom_parquet_hudi_info *info, size_t info_size)
{
  const struct hudi_metadata *hudi = &file->footer.hudi;
  const bool has_range = !hudi->is_ambiguous && hudi->min_key.data && hudi->max_key.size > 0 &&
                         compare(hudi->min_key, hudi->max_key) <= 0;
  lanebloom_parquet_hudi_info full = {.has_filter = hudi->filter.data, .has_range = has_range};
  if (has_range) {
    full.min_key = hudi->min_key;
    full.max_key = hudi->max_key;
  }
  info_copy(info, info_size, &full, sizeof full);
}

/* ---- The filter ---- */

/* A record of version -1 begins like this in Base64. */
static const char begin[] = "/////";

static lanebloom_status check_text(const struct hudi_metadata *hudi, const struct problem *problem)
{
  const lanebloom_slice text = hudi->filter;
  if (!text.data)
    return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                       "expected a file with a filter of Hudi, found one without");
  if (hudi->is_ambiguous)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected one filter of Hudi, one type and one range of keys in the footer, "
                       "found one of them twice");
  if (hudi->type.data && !is_text(hudi->type, "SIMPLE") && !is_text(hudi->type, "DYNAMIC_V0"))
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "the filter of Hudi: expected the type SIMPLE or DYNAMIC_V0, found %.*s",
                       hudi->type.size < 80 ? (int)hudi->type.size : 80,
                       (const char *)hudi->type.data);
  if (text.size < strlen(begin) || memcmp(text.data, begin, strlen(begin)) != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "the filter of Hudi: expected the Base64 of a record of version -1, found "
                       "something else");
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_parquet_load_hudi_filter(const lanebloom_parquet *file,
                                                    lanebloom_filter **filter, char *problem_text,
                                                    size_t problem_size)
{
  const struct problem problem = problem_begin(problem_text, problem_size);
  const struct hudi_metadata *hudi = &file->footer.hudi;
  *filter = NULL;
  const lanebloom_status status = check_text(hudi, &problem);
  return status ? status /* the filter owns the record, because the text is decoded */
                : lanebloom_filter_parse_raw(LANEBLOOM_HUDI, hudi->filter.data, hudi->filter.size,
                                             NULL, filter, problem_text, problem_size);
}

/* ---- Screening ---- */

static bool is_ascii(lanebloom_slice key)
{
  const uint8_t *bytes = key.data;
  uint8_t all = 0;
  for (size_t i = 0; i < key.size; i++)
    all |= bytes[i];
  return all < 0x80;
}

/* Clears the bits of the keys that are outside of the range. Hudi's writers compare record keys
 * either by their bytes or, as Java does, by UTF-16. For a key of ASCII both orders are the same,
 * whatever the ends of the range are. Other keys are never excluded. */
static void exclude(const lanebloom_parquet_hudi_info *info, const lanebloom_keys *keys,
                    uint8_t *bitmap)
{
  for (size_t i = 0; i < keys->n; i++) {
    const lanebloom_slice key = keys_at(keys, i);
    if ((compare(key, info->min_key) < 0 || compare(key, info->max_key) > 0) && is_ascii(key))
      hits_clear_bit(bitmap, i);
  }
}

lanebloom_status lanebloom_parquet_screen_hudi(const lanebloom_parquet *file,
                                               const lanebloom_keys *keys, uint8_t *bitmap,
                                               size_t *nmaybe, char *problem_text,
                                               size_t problem_size)
{
  lanebloom_parquet_hudi_info info;
  lanebloom_filter *filter = NULL;
  (void)problem_begin(problem_text, problem_size);
  lanebloom_status status = LANEBLOOM_OK;
  lanebloom_parquet_describe_hudi(file, &info, sizeof info);
  if (info.has_filter)
    status = lanebloom_parquet_load_hudi_filter(file, &filter, problem_text, problem_size);
  if (filter)
    lanebloom_filter_screen(filter, keys, bitmap);
  else
    hits_set(bitmap, keys->n);
  lanebloom_filter_free(filter);
  if (info.has_range)
    exclude(&info, keys, bitmap);
  *nmaybe = hits_count(bitmap, hits_nbytes(keys->n));
  return status;
}
