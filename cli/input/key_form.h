/* Converts the text of keys: trims, lower-cases and decodes it.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_KEY_FORM_H
#define LANEBLOOM_CLI_KEY_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lanebloom.h>

#include "typed_text.h"

/* Does this form change the text of a key? */
static inline bool form_converts(lanebloom_key_form form)
{
  return form.encoding || form.flags & (LANEBLOOM_KEY_TRIMMED | LANEBLOOM_KEY_LOWERED);
}

/* Can keys of this form be made from text? false: a decoded field may contain a tab, so that
 * joining several fields would be ambiguous. */
bool form_has_text(lanebloom_key_form form);

/* Returns the text without spaces, tabs, carriage returns and line feeds at its ends. */
lanebloom_slice trim_text(lanebloom_slice text);

/* Returns the most bytes that a key made from nbytes of text takes. */
static inline size_t max_key_nbytes(size_t nbytes)
{
  return nbytes > TYPED_NBYTES ? nbytes : TYPED_NBYTES;
}

/* Makes a key from text and returns its end, or NULL if the text is malformed. to: room for
 * max_key_nbytes(). Text that is not joined must be trimmed already. */
uint8_t *convert_text(lanebloom_key_form form, const struct text_units *units, lanebloom_slice text,
                      uint8_t *to);

/* Writes into `problem' what is wrong with malformed text: what was expected and what was found.
 * Returns the index of the faulty byte. */
size_t explain_text(lanebloom_key_form form, const struct text_units *units, lanebloom_slice text,
                    char *problem, size_t problem_size);

#endif
