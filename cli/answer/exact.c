/* A record passes this answer if its key is exactly one of the keys in memory.
 * SPDX-License-Identifier: MIT */
#include "exact.h"

#include <inttypes.h>
#include <string.h>

#include "../base/report.h"
#include "../input/key_form.h"

static size_t screen(void *context, const struct batch *batch, uint8_t *bitmap, size_t *counts)
{
  const struct exact *exact = context;
  (void)counts; /* one key set answers, so no sources are counted */
  return key_set_match(&exact->keys, batch, bitmap);
}

/* Bytes that often separate fields. */
static const struct separator {
  char byte;
  const char *name;
} separators[] = {{'\t', "a tab"}, {',', "a comma"}, {';', "a semicolon"},
                  {'|', "a bar"},  {' ', "a space"}, {':', "a colon"}};
enum { NSEPARATORS = sizeof separators / sizeof *separators };

static void inspect_unselected(void *context, const struct record_syntax *syntax,
                               const struct chunk *chunk)
{
  /* With fewer records than MIN_NRECORDS, it may be chance that all of them contain the same
   * separator. */
  enum { MIN_NRECORDS = 10, MAX_NRECORDS = 100 };
  struct exact *exact = context;
  if (syntax->fields.n > 0 || syntax->width || form_converts(syntax->form))
    return;
  const char *record = chunk->data, *end = record + chunk->nbytes;
  unsigned found = (1u << NSEPARATORS) - 1;
  size_t n = 0;
  for (size_t nbytes; n < MAX_NRECORDS && record < end; n++, record += nbytes) {
    nbytes = record_nbytes(syntax, record, (size_t)(end - record));
    for (size_t i = 0; i < NSEPARATORS; i++)
      if (!memchr(record, separators[i].byte, nbytes))
        found &= ~(1u << i);
  }
  if (n >= MIN_NRECORDS)
    exact->separators = found;
}

/* Returns a separator that all of the first records contain and no key contains, or NULL if there
 * is none. */
static const struct separator *find_separator(const struct exact *exact)
{
  for (size_t i = 0; i < NSEPARATORS; i++)
    if (exact->separators >> i & 1 && !key_set_has_byte(&exact->keys, separators[i].byte))
      return &separators[i];
  return NULL;
}

/* If the records have a separator that no key contains, no record can match, so this warns.
 * Otherwise this warns only if there are many records and many keys. If there are few, it is normal
 * that no record matches. */
static void warn_of_none(void *context, uint64_t nrecords)
{
  const struct exact *exact = context;
  const uint64_t nkeys = exact->keys.nkeys;
  if (nkeys == 0)
    return;
  const struct separator *separator = find_separator(exact);
  if (separator)
    complain(NULL,
             "warning: none of %" PRIu64 " records matches any of %" PRIu64
             " keys: the first records have %s, but no key has one; -f names the fields that are "
             "the key",
             nrecords, nkeys, separator->name);
  else if (nrecords >= SIGNIFICANT_NKEYS && nkeys >= SIGNIFICANT_NKEYS)
    complain(NULL,
             "warning: none of %" PRIu64 " records matches any of %" PRIu64
             " keys: if some should, check -f, --keys-field, --crlf, --trim, --lower, --upper, "
             "--decode and --digest",
             nrecords, nkeys);
}

static void exact_free(void *context)
{
  struct exact *exact = context;
  key_set_free(&exact->keys);
}

static const struct answer_kind kind = {.screen = screen,
                                        .inspect_unselected = inspect_unselected,
                                        .warn_of_none = warn_of_none,
                                        .free = exact_free};

struct answer exact_answer(struct exact *exact, const char *path,
                           const struct record_syntax *syntax,
                           const struct input_messages *messages)
{
  key_set_read(&exact->keys, path, syntax, messages);
  return (struct answer){
      .kind = &kind, .context = exact, .is_exact = true, .returns = exact->keys.returns};
}
