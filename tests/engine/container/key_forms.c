/* Key forms in containers.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "containers.h"
#include "filter_files.h"
#include "support.h"

static lanebloom_filter *build_two_keys(lanebloom_key_form form)
{
  static const lanebloom_slice slices[] = {{"hello", 5}, {"world", 5}};
  const lanebloom_keys keys = lanebloom_keys_slices(slices, 2);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  return filter;
}

/* These bytes are given in docs/file-format.md, and never change. */
Test(container, frozen_bytes_of_all_versions)
{
  static const struct {
    lanebloom_key_form form;
    const char *hex;
  } files[] = {
      {{LANEBLOOM_BYTES, 0},
       "894c42460d0a1a0a01000000010000000200000000000000"
       "102700000000000009000000000000000000000052130a97"
       "43bfe411c94f66430000000000000000114000414410401006"},
      {{LANEBLOOM_HEX, LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_LOWERED},
       "894c42460d0a1a0a02000000010000000200000000000000"
       "10270000000000000900000000000000010003004e6122b3"
       "bb763402ea24aa7f0000000000000000114000414410401006"},
      {{LANEBLOOM_BYTES, LANEBLOOM_KEY_SHA1 | LANEBLOOM_KEY_UPPER_HEX | LANEBLOOM_KEY_UPPERED |
                             LANEBLOOM_KEY_TRIMMED},
       "894c42460d0a1a0a03000000010000000200000000000000"
       "10270000000000000900000000000000000029026628beb5"
       "0d18d24ed5dd1e980000000000000000114000414410401006"},
  };
  enter_empty_folder();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    uint8_t expected[100], found[100];
    const size_t size = hex_decode(files[i].hex, expected, sizeof expected);
    lanebloom_filter *filter = build_two_keys(files[i].form);
    save(filter, "f");
    cr_assert(read_file("f", found, sizeof found) == size);
    test_same_bytes("container", found, expected, size);
    lanebloom_filter_free(filter);
  }
  leave_folder();
}

/* Returns the version of the container that has this key form, or 0 if there is no such form. This
 * is a second implementation of the rules in docs/file-format.md. */
static int version_of(int encoding, uint32_t flags)
{
  const bool is_lowered = flags & 2, is_uppered = flags & 8, has_hex = flags & 0x300;
  const uint32_t digest = flags >> 4 & 15;
  if (flags > 0x3ff || (flags & 0x300) == 0x300 || (is_lowered && is_uppered) || digest > 4 ||
      (has_hex && digest == 0) || (digest > 0 && encoding > 0))
    return 0;
  return flags & 0x3f8 ? 3 : encoding > 0 || flags > 0 ? 2 : 1;
}

Test(container, a_key_form_is_loaded_as_it_was_saved)
{
  size_t nforms = 0;
  enter_empty_folder();
  for (int encoding = LANEBLOOM_BYTES; encoding <= LANEBLOOM_UUID; encoding++)
    for (uint32_t flags = 0; flags < 0x400; flags++) {
      const lanebloom_key_form form = {(lanebloom_encoding)encoding, flags};
      if (!version_of(encoding, flags))
        continue;
      nforms++;
      lanebloom_filter *filter = build_two_keys(form), *raw;
      const lanebloom_key_form found = lanebloom_filter_key_form(filter);
      cr_assert(found.encoding == form.encoding && found.flags == flags);
      assert_round_trip(filter);
      uint8_t version[9];
      cr_assert(read_file("f.lbf", version, sizeof version) == sizeof version &&
                version[8] == version_of(encoding, flags));
      cr_assert(lanebloom_filter_save_raw(filter, "raw") == LANEBLOOM_OK &&
                lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "raw", NULL, &raw, NULL, 0) ==
                    LANEBLOOM_OK);
      const lanebloom_key_form plain = lanebloom_filter_key_form(raw);
      cr_assert(plain.encoding == LANEBLOOM_BYTES && plain.flags == 0, "bare bytes have no form");
      lanebloom_filter_free(raw);
      const lanebloom_raw_options options = {.key_form = form};
      cr_assert(lanebloom_filter_load_raw(LANEBLOOM_LEVELDB, "raw", &options, &raw, NULL, 0) ==
                LANEBLOOM_OK);
      assert_round_trip(raw); /* with the key form of the options */
      lanebloom_filter_free(raw);
      lanebloom_filter_free(filter);
    }
  cr_assert(nforms == 16 * 12 + 12 * 4 * 3); /* three cases, trimmed, joined; four digests in three
                                              * ways */
  leave_folder();
}

Test(container, every_other_key_form_is_refused)
{
  enter_empty_folder();
  lanebloom_filter *filter = build_two_keys((lanebloom_key_form){LANEBLOOM_HEX, 0}), *found;
  save(filter, "f");
  uint8_t bytes[256];
  const size_t size = read_file("f", bytes, sizeof bytes);
  static const int encodings[] = {LANEBLOOM_BYTES, LANEBLOOM_HEX, LANEBLOOM_UUID,
                                  LANEBLOOM_UUID + 1, 0x100};
  for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
    for (uint32_t flags = 0; flags < 0x10000; flags += flags < 0x800 ? 1 : 0x3ff)
      for (uint8_t version = 1; version <= 3; version++) {
        const int encoding = encodings[i];
        const bool is_good = encoding <= LANEBLOOM_UUID && version_of(encoding, flags) == version;
        const uint8_t form[] = {(uint8_t)encoding, (uint8_t)(encoding >> 8), (uint8_t)flags,
                                (uint8_t)(flags >> 8)};
        bytes[8] = version;
        memcpy(bytes + 40, form, 4);
        seal(bytes, size);
        const lanebloom_status status = lanebloom_filter_parse(bytes, size, &found, NULL, 0);
        cr_assert(status == (is_good ? LANEBLOOM_OK : LANEBLOOM_ERR_FORMAT) && !found == !is_good,
                  "version %d, encoding %d, flags %04x: %s", version, encoding, flags,
                  lanebloom_status_text(status));
        if (is_good)
          lanebloom_filter_free(found);
      }
  memcpy(bytes + 40, "\0\0\4", 4);
  bytes[8] = 3;
  seal(bytes, size);
  assert_refused(bytes, size, "a form of version 2",
                 "key form: expected an encoding up to 15 and flags that version 3 has, found "
                 "encoding 0 and flags 0004");
  lanebloom_filter_free(filter);
  leave_folder();
}

Test(container, encodings_have_names)
{
  for (int i = LANEBLOOM_BYTES; i <= LANEBLOOM_UUID; i++)
    for (int j = LANEBLOOM_BYTES; j <= LANEBLOOM_UUID + 1; j++)
      cr_assert((strcmp(lanebloom_encoding_name((lanebloom_encoding)i),
                        lanebloom_encoding_name((lanebloom_encoding)j)) == 0) == (i == j));
  for (int i = LANEBLOOM_BYTES; i <= LANEBLOOM_UUID; i++) {
    lanebloom_encoding found;
    cr_assert(lanebloom_encoding_by_name(lanebloom_encoding_name((lanebloom_encoding)i), &found) &&
              (int)found == i);
  }
  lanebloom_encoding unchanged = LANEBLOOM_DATE32;
  cr_assert(!lanebloom_encoding_by_name("unknown", &unchanged) &&
            !lanebloom_encoding_by_name("", &unchanged) && unchanged == LANEBLOOM_DATE32);
  cr_assert_str_eq(lanebloom_encoding_name(LANEBLOOM_TIMESTAMP_MS), "timestamp-ms");
  cr_assert_str_eq(lanebloom_encoding_name((lanebloom_encoding)-1), "unknown");
}
