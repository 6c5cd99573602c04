/* Makes keys from text. The form of a key says whether its text is trimmed, made lower-case or
 * upper-case, decoded, or replaced by its digest.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_FORM_H
#define LANEBLOOM_CLI_KEY_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

#include "digest.h"
#include "partition_key.h"
#include "typed_text.h"

/* Can a key of this form differ from its text? */
static inline bool form_converts(lanebloom_key_form form)
{
  return form.encoding || form.flags & ~(uint32_t)LANEBLOOM_KEY_JOINED;
}

/* Can keys of this form be made from text? Returns false if several fields are decoded and joined,
 * because a decoded field may contain a tab, which separates joined fields. */
bool form_has_text(lanebloom_key_form form);

/* Returns the text without the spaces, tabs, carriage returns and line feeds at both ends. */
lanebloom_slice trim_text(lanebloom_slice text);

/* Returns the largest size that a key may have if its text has nbytes. */
static inline size_t max_key_nbytes(const struct text_units *units, size_t nbytes)
{
  if (units->partition_key)
    return max_partition_key_nbytes(units->partition_key, nbytes);
  _Static_assert((int)DIGEST_KEY_NBYTES >= (int)TYPED_NBYTES, "a digest is the longest key");
  return nbytes > DIGEST_KEY_NBYTES ? nbytes : DIGEST_KEY_NBYTES;
}

/* Makes a key from text, writes it at `to', and returns the end of the key. Returns NULL if the
 * text is malformed. There must be room for max_key_nbytes(). The caller must have trimmed the
 * text, unless it is joined from several fields. */
uint8_t *convert_text(lanebloom_key_form form, const struct text_units *units, lanebloom_slice text,
                      uint8_t *to);

/* Writes into `problem' why the text is malformed: what was expected and what was found. Returns
 * the index of the faulty byte. */
size_t explain_text(lanebloom_key_form form, const struct text_units *units, lanebloom_slice text,
                    char *problem, size_t problem_size);

#endif
