/* Merges filters, and finds the differences that prevent merging.
 * SPDX-License-Identifier: MIT */
#include "merge.h"

#include <math.h>
#include <string.h>

lanebloom_status lanebloom_differ(const struct problem *problem, const char *expected,
                                  const char *found)
{
  return problem_set(problem, LANEBLOOM_ERR_MISMATCH, "expected %s, found %s", expected, found);
}

static lanebloom_status compare_numbers(uint64_t expected, uint64_t found, const char *unit,
                                        const struct problem *problem)
{
  if (expected == found)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_MISMATCH, "expected %" PRIu64 " %s, found %" PRIu64,
                     expected, unit, found);
}

lanebloom_status lanebloom_compare_formats(const struct format_table *expected,
                                           lanebloom_key_form expected_form,
                                           const struct format_table *found,
                                           lanebloom_key_form found_form,
                                           const struct problem *problem)
{
  char text[2][LANEBLOOM_KEY_FORM_NBYTES];
  if (expected != found)
    return problem_set(problem, LANEBLOOM_ERR_MISMATCH, "expected the format %s, found %s",
                       expected->name, found->name);
  if (!same_key_form(expected_form, found_form))
    return problem_set(problem, LANEBLOOM_ERR_MISMATCH,
                       "expected keys of the form '%s', found '%s'",
                       lanebloom_key_form_text(expected_form, text[0], sizeof text[0]),
                       lanebloom_key_form_text(found_form, text[1], sizeof text[1]));
  return LANEBLOOM_OK;
}

/* A constant answer is compared last, because filters that differ in it usually differ in size. */
lanebloom_status lanebloom_compare_shapes(const struct filter_shape *expected,
                                          uint64_t expected_nbytes,
                                          const struct filter_shape *found, uint64_t found_nbytes,
                                          const struct problem *problem)
{
  lanebloom_status status = compare_numbers(expected_nbytes, found_nbytes, "bytes", problem);
  if (!status)
    status = compare_numbers(expected->nbits, found->nbits, "bits", problem);
  if (!status)
    status = compare_numbers(expected->nprobes, found->nprobes, "probes per key", problem);
  if (!status && (expected->answer != found->answer || expected->nbytes != found->nbytes))
    status = lanebloom_differ(problem, "a filter with the same constant answer", "another");
  return status;
}

static bool same_bytes(const lanebloom_filter *a, const lanebloom_filter *b, size_t first, size_t n)
{
  return n == 0 || memcmp(a->bytes + first, b->bytes + first, n) == 0;
}

/* Checks whether two filters can be merged by a bitwise or: everything but the payload must be
 * equal, and keys must set bits in the payload, as they do in all formats that can be built. */
static lanebloom_status compare_filters(const lanebloom_filter *expected,
                                        const lanebloom_filter *found,
                                        const struct problem *problem)
{
  if (found->shape.answer == ANSWER_BY_PROBES && !found->format->plan)
    return lanebloom_differ(problem, "a filter that can be merged", found->format->name);
  lanebloom_status status = lanebloom_compare_formats(
      expected->format, expected->facts.key_form, found->format, found->facts.key_form, problem);
  if (!status)
    status = lanebloom_compare_shapes(&expected->shape, expected->nbytes, &found->shape,
                                      found->nbytes, problem);
  if (status)
    return status;
  const size_t header = (size_t)(expected->payload - expected->bytes);
  const size_t end = header + (size_t)expected->shape.nbytes;
  if (!same_bytes(expected, found, 0, header) ||
      !same_bytes(expected, found, end, expected->nbytes - end))
    return lanebloom_differ(problem, "the same bytes around the bits of keys", "others");
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_filter_merge(const lanebloom_filter *const *filters, size_t n,
                                        lanebloom_filter **merged, size_t *bad_filter, char *text,
                                        size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *merged = NULL;
  if (bad_filter)
    *bad_filter = n;
  if (!lanebloom_kernels_current())
    return problem_status(&problem, LANEBLOOM_ERR_KERNEL);
  if (n == 0)
    return problem_set(&problem, LANEBLOOM_ERR_ARGUMENT,
                       "expected at least one filter, found none");
  const lanebloom_filter *first = filters[0];
  struct filter_facts facts = {.bits_per_key = first->facts.bits_per_key,
                               .key_form = first->facts.key_form};
  for (size_t i = 0; i < n; i++) {
    const lanebloom_status status = compare_filters(first, filters[i], &problem);
    if (status) {
      if (bad_filter)
        *bad_filter = i;
      return status;
    }
    /* if one of the numbers is unknown, the sum is too */
    facts.nkeys = add_counts(facts.nkeys, filters[i]->facts.nkeys);
    if (lanebloom_filter_bits_per_key(filters[i]) != lanebloom_filter_bits_per_key(first))
      facts.bits_per_key = NAN;
  }

  struct memory memory = lanebloom_memory_create(first->nbytes);
  if (!memory.bytes)
    return problem_memory_to(&problem, first->nbytes, "hold the union");
  for (size_t i = 0; i < n; i++)
    or_bytes(memory.bytes, filters[i]->bytes,
             first->nbytes); /* the frames are equal, so their bitwise or is again the frame */
  lanebloom_status status = lanebloom_filter_adopt(first->format, memory.bytes, first->nbytes,
                                                   &facts, memory, merged, &problem);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}
