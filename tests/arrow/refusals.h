/* Checks that arrays are refused: each call reports it in the same words, writes nothing, and adds
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

/* Checks what a call reported. */
void is_refused(struct refusal *refusal, const char *call, lanebloom_status status);

/* No call with a filter accepts the array. */
void filters_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                    lanebloom_key_form form, lanebloom_status status, const char *text);

/* After the refused call the builder finishes as if it had not been made, sized or not. */
void builders_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                     lanebloom_key_form form, lanebloom_status status, const char *text);

/* No call accepts the array, whatever the key form. */
void all_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                lanebloom_status status, const char *text);

void form_is_refused(const struct ArrowSchema *schema, lanebloom_status status, const char *text);

#endif
