/* A filter has the key form that was set on its builder.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "builder.h"

static lanebloom_builder *create_with_form(uint64_t expected_keys, lanebloom_key_form form)
{
  const lanebloom_keys keys = all_keys();
  lanebloom_builder *builder = create(10, expected_keys);
  const lanebloom_key_form begin = lanebloom_builder_key_form(builder);
  cr_assert(begin.encoding == LANEBLOOM_BYTES && begin.flags == 0);
  cr_assert(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
  add(builder, &keys, 0, 50);
  return builder;
}

static bool builds_form(const lanebloom_builder *builder, lanebloom_key_form form)
{
  const lanebloom_key_form found = lanebloom_builder_key_form(builder);
  return found.encoding == form.encoding && found.flags == form.flags;
}

static bool has_form(lanebloom_filter *filter, lanebloom_key_form form)
{
  const lanebloom_key_form found = lanebloom_filter_key_form(filter);
  lanebloom_filter_info info;
  lanebloom_filter_describe(filter, &info, sizeof info);
  lanebloom_filter_free(filter);
  return found.encoding == form.encoding && found.flags == form.flags &&
         info.key_form.encoding == form.encoding && info.key_form.flags == form.flags;
}

Test(builder, the_key_form_goes_where_the_keys_go)
{
  static const lanebloom_key_form plain = {LANEBLOOM_BYTES, 0},
                                  form = {LANEBLOOM_UUID, LANEBLOOM_KEY_JOINED};
  for (int sized = 0; sized < 2; sized++) {
    lanebloom_builder *a = create_with_form(sized ? 100 : 0, form);
    lanebloom_builder *b = create_with_form(sized ? 100 : 0, form);
    lanebloom_builder *other = create_with_form(sized ? 100 : 0, plain), *part;
    cr_assert(builds_form(a, form) && builds_form(b, form) && builds_form(other, plain));
    cr_assert(lanebloom_builder_merge(a, b, NULL, 0) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_merge(a, other, NULL, 0) == LANEBLOOM_ERR_MISMATCH);
    cr_assert(lanebloom_builder_merge(other, a, NULL, 0) == LANEBLOOM_ERR_MISMATCH);
    if (!sized) {
      cr_assert(lanebloom_builder_part(a, 0, 1, &part) == LANEBLOOM_OK);
      cr_assert(builds_form(part, form));
      cr_assert(has_form(finish(part), form), "a part");
      lanebloom_builder_free(part);
    }
    lanebloom_filter *filters[] = {finish(a), finish(b), finish(other)}, *merged;
    const lanebloom_filter *const same[] = {filters[1], filters[1]};
    const lanebloom_filter *const different[] = {filters[1], filters[2]};
    cr_assert(lanebloom_filter_merge(same, 2, &merged, NULL, NULL, 0) == LANEBLOOM_OK &&
              has_form(merged, form));
    cr_assert(lanebloom_filter_merge(different, 2, &merged, NULL, NULL, 0) ==
                  LANEBLOOM_ERR_MISMATCH &&
              !merged);
    cr_assert(has_form(filters[0], form) && has_form(filters[1], form) &&
              has_form(filters[2], plain));
    cr_assert(builds_form(a, form) && has_form(finish(a), form), "after finish");
    lanebloom_builder_free(a);
    lanebloom_builder_free(b);
    lanebloom_builder_free(other);
  }
}

Test(builder, unknown_key_forms_change_nothing)
{
  static const lanebloom_key_form form = {LANEBLOOM_INT64, LANEBLOOM_KEY_TRIMMED};
  static const lanebloom_key_form unknown[] = {
      {(lanebloom_encoding)(LANEBLOOM_UUID + 1), 0},
      {(lanebloom_encoding)-1, 0},
      {0, 0x400},
      {0, LANEBLOOM_KEY_LOWERED | LANEBLOOM_KEY_UPPERED},
      {0, LANEBLOOM_KEY_UPPER_HEX},
      {0, LANEBLOOM_KEY_NTLM + 0x10},
      {LANEBLOOM_HEX, LANEBLOOM_KEY_SHA1},
      {0, LANEBLOOM_KEY_SHA1 | LANEBLOOM_KEY_LOWER_HEX | LANEBLOOM_KEY_UPPER_HEX}};
  lanebloom_builder *builder = create_with_form(0, form);
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    cr_assert(lanebloom_builder_set_key_form(builder, unknown[i]) == LANEBLOOM_ERR_ARGUMENT);
  cr_assert(builds_form(builder, form));
  cr_assert(has_form(finish(builder), form));
  lanebloom_builder_free(builder);
}
