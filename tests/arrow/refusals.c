/* Calls with arrays that must be refused.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "refusals.h"

struct ArrowSchema schema_of(const char *format)
{
  return (struct ArrowSchema){.format = format, .name = "made", .release = release_no_schema};
}

struct ArrowArray array_of(int64_t length, const void **buffers, int64_t nbuffers)
{
  return (struct ArrowArray){
      .length = length, .n_buffers = nbuffers, .buffers = buffers, .release = release_no_array};
}

static lanebloom_keys three_keys(void)
{
  return lanebloom_keys_fixed("abc", 1, 3);
}

lanebloom_filter *filter_with(lanebloom_key_form form)
{
  const lanebloom_keys keys = three_keys();
  return test_filter_of(LANEBLOOM_LEVELDB, 10, &keys, form);
}

static void clear_problem(struct refusal *refusal)
{
  memset(refusal->problem, 'x', sizeof refusal->problem - 1);
}

void is_refused(struct refusal *refusal, const char *call, lanebloom_status status)
{
  if (status != refusal->status || strcmp(refusal->problem, refusal->text) != 0)
    test_fatal("%s: %s: %s; expected %s: %s", call, lanebloom_status_text(status), refusal->problem,
               lanebloom_status_text(refusal->status), refusal->text);
  clear_problem(refusal);
}

struct refusal refusal_of(lanebloom_status status, const char *text, const char *owner)
{
  struct refusal refusal = {.status = status};
  const char *at = strstr(text, "%s");
  snprintf(refusal.text, sizeof refusal.text, "%.*s%s%s", at ? (int)(at - text) : (int)strlen(text),
           text, at ? owner : "", at ? at + 2 : "");
  clear_problem(&refusal);
  return refusal;
}

void filters_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                    lanebloom_key_form form, lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "filter");
  lanebloom_filter *filter = filter_with(form);
  uint8_t bytes[8] = "oldbyte";
  uint32_t index = 77;
  size_t count = 99;
  char *problem = refusal.problem;
  const size_t size = sizeof refusal.problem;
  is_refused(&refusal, "screen",
             lanebloom_filter_screen_arrow(filter, schema, array, bytes, &count, problem, size));
  is_refused(&refusal, "count",
             lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, problem, size));
  is_refused(&refusal, "mask",
             lanebloom_filter_mask_arrow(filter, schema, array, bytes, &count, problem, size));
  is_refused(&refusal, "select",
             lanebloom_filter_select_arrow(filter, schema, array, &index, &count, problem, size));
  struct ArrowSchema booleans_schema = schema_of("b");
  struct ArrowArray booleans = array_of(1, NULL, 0);
  is_refused(&refusal, "booleans",
             lanebloom_filter_booleans_arrow(filter, schema, array, &booleans_schema, &booleans,
                                             problem, size));
  cr_assert(!booleans_schema.release && !booleans.release);
  cr_assert(strcmp((char *)bytes, "oldbyte") == 0 && index == 77 && count == 99);

  char cut[10] = "old";
  cr_assert(lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, cut, sizeof cut) ==
            status);
  cr_assert(strncmp(cut, refusal.text, sizeof cut - 1) == 0 && strlen(cut) == sizeof cut - 1);
  cr_assert(lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, NULL, 0) == status);
  lanebloom_filter_free(filter);
}

void builders_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                     lanebloom_key_form form, lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "builder");
  const lanebloom_keys keys = three_keys();
  for (uint64_t expected_keys = 0; expected_keys <= 3; expected_keys += 3) {
    lanebloom_builder *builder;
    lanebloom_filter *filter, *expected = filter_with(form);
    lanebloom_filter_info info;
    size_t nbytes;
    const void *bytes = lanebloom_filter_bytes(expected, &nbytes);
    cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, expected_keys, &builder) ==
              LANEBLOOM_OK);
    cr_assert(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
    is_refused(&refusal, "add",
               lanebloom_builder_add_arrow(builder, schema, array, refusal.problem,
                                           sizeof refusal.problem));
    cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys == 3);
    test_filter_bytes("after an error", filter, bytes, nbytes);
    lanebloom_builder_free(builder);
    lanebloom_filter_free(expected);
  }
}

void all_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "");
  uint64_t hash = 5;
  lanebloom_slice slice = {&hash, 5};
  uint8_t number[16] = "oldnumber";
  const lanebloom_key_form form = {.encoding = LANEBLOOM_BYTES};
  filters_refuse(schema, array, form, status, text);
  builders_refuse(schema, array, form, status, text);
  is_refused(&refusal, "hash",
             lanebloom_hash_arrow(LANEBLOOM_ROCKSDB_LOCAL, schema, array, &hash, refusal.problem,
                                  sizeof refusal.problem));
  is_refused(&refusal, "slices",
             lanebloom_arrow_slices(schema, array, &slice, number, refusal.problem,
                                    sizeof refusal.problem));
  cr_assert(hash == 5 && slice.data == &hash && slice.size == 5);
  cr_assert(strcmp((char *)number, "oldnumber") == 0);
}

void form_is_refused(const struct ArrowSchema *schema, lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "");
  lanebloom_key_form form = {LANEBLOOM_HEX, 7};
  is_refused(&refusal, "key form",
             lanebloom_arrow_key_form(schema, &form, refusal.problem, sizeof refusal.problem));
  cr_assert(form.encoding == LANEBLOOM_HEX && form.flags == 7);
}
