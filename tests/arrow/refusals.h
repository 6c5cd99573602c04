/* Checks that an array is refused: every call reports the same problem, writes nothing, and adds
 * nothing. `text` is the expected problem, in which %s stands for "filter" or "builder".
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ARROW_REFUSALS_H
#define LANEBLOOM_TESTS_ARROW_REFUSALS_H

#include "arrays.h"

struct ArrowSchema schema_of(const char *format);
struct ArrowArray array_of(int64_t length, const void **buffers, int64_t nbuffers);

/* Builds a filter of three keys with this form. */
lanebloom_filter *filter_with(lanebloom_key_form form);

/* An expected status and problem, and room for the problem that a call reports. */
struct refusal {
  lanebloom_status status;
  char text[256];
  char problem[256];
};

/* owner: replaces %s in the text. */
struct refusal refusal_of(lanebloom_status status, const char *text, const char *owner);

/* Checks the status and the problem that a call reported. */
void is_refused(struct refusal *refusal, const char *call, lanebloom_status status);

/* Checks that every call with a filter refuses the array. */
void filters_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                    lanebloom_key_form form, lanebloom_status status, const char *text);

/* Checks that a builder, sized or not, refuses the array, and then finishes as if that call had not
 * been made. */
void builders_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                     lanebloom_key_form form, lanebloom_status status, const char *text);

/* Checks that every call refuses the array, whatever the key form. */
void all_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                lanebloom_status status, const char *text);

void form_is_refused(const struct ArrowSchema *schema, lanebloom_status status, const char *text);

#endif
