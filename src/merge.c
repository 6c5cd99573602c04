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

/* Returns the size of the filter without the attached bytes. */
static size_t own_nbytes(const lanebloom_filter *filter)
{
  if (!filter->format->has_attachment || filter->shape.answer != ANSWER_BY_PROBES)
    return filter->nbytes;
  return (size_t)format_nbytes(filter->format, &filter->shape);
}

/* Compares the headers, except for the counts of keys. */
static bool same_headers(const lanebloom_filter *a, const lanebloom_filter *b)
{
  const size_t size = (size_t)(a->payload - a->bytes), count = a->format->count_offset;
  if (count == 0 || size == 0)
    return same_bytes(a, b, 0, size);
  const size_t after = count + sizeof(uint64_t);
  return same_bytes(a, b, 0, count) && same_bytes(a, b, after, size - after);
}

/* Returns the first of two filters that has attached bytes, or one of them if none has. */
static const lanebloom_filter *attached_of(const lanebloom_filter *a, const lanebloom_filter *b)
{
  return a->nbytes > own_nbytes(a) ? a : b;
}

/* Checks whether two filters can be merged by a bitwise or: everything but the payload must be
 * equal, and keys must set bits in the payload, as they do in all formats that can be built. Counts
 * of keys in headers may differ, and one filter may have attached bytes and the other none. */
static lanebloom_status compare_filters(const lanebloom_filter *expected,
                                        const lanebloom_filter *found,
                                        const struct problem *problem)
{
  if (found->shape.answer == ANSWER_BY_PROBES && !found->format->plan)
    return lanebloom_differ(problem, "a filter that can be merged", found->format->name);
  lanebloom_status status = lanebloom_compare_formats(
      expected->format, expected->facts.key_form, found->format, found->facts.key_form, problem);
  if (!status)
    status = lanebloom_compare_shapes(&expected->shape, own_nbytes(expected), &found->shape,
                                      own_nbytes(found), problem);
  if (status)
    return status;
  const size_t header = (size_t)(expected->payload - expected->bytes);
  const size_t end = header + (size_t)expected->shape.nbytes, own = own_nbytes(expected);
  if (!same_headers(expected, found) || !same_bytes(expected, found, end, own - end))
    return lanebloom_differ(problem, "the same bytes around the bits of keys", "others");
  if (expected->nbytes > own && found->nbytes > own &&
      (expected->nbytes != found->nbytes ||
       !same_bytes(expected, found, own, expected->nbytes - own)))
    return lanebloom_differ(problem, "the same attached bytes", "others");
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
  const lanebloom_filter *first = filters[0], *attached = first;
  struct filter_facts facts = {.bits_per_key = first->facts.bits_per_key,
                               .key_form = first->facts.key_form};
  for (size_t i = 0; i < n; i++) {
    /* the attached bytes are compared with those of the first filter that has some */
    const lanebloom_filter *other = filters[i]->nbytes > own_nbytes(filters[i]) ? attached : first;
    const lanebloom_status status = compare_filters(other, filters[i], &problem);
    if (status) {
      if (bad_filter)
        *bad_filter = i;
      return status;
    }
    attached = attached_of(attached, filters[i]);
    /* if one of the numbers is unknown, the sum is too */
    facts.nkeys = add_counts(facts.nkeys, filters[i]->facts.nkeys);
    if (lanebloom_filter_bits_per_key(filters[i]) != lanebloom_filter_bits_per_key(first))
      facts.bits_per_key = NAN;
  }

  const size_t own = own_nbytes(first);
  const size_t count_offset =
      first->shape.answer == ANSWER_BY_PROBES ? first->format->count_offset : 0;
  struct memory memory = lanebloom_memory_create(attached->nbytes);
  if (!memory.bytes)
    return problem_memory_to(&problem, attached->nbytes, "hold the union");
  for (size_t i = 0; i < n; i++)
    /* the frames are equal except for counts, so their bitwise or is again the frame */
    merge_bytes(memory.bytes, filters[i]->bytes, own, count_offset);
  if (attached->nbytes > own)
    memcpy(memory.bytes + own, attached->bytes + own, attached->nbytes - own);
  lanebloom_status status = lanebloom_filter_adopt(first->format, memory.bytes, attached->nbytes,
                                                   &facts, memory, merged, &problem);
  if (status)
    lanebloom_memory_free(&memory);
  return status;
}
