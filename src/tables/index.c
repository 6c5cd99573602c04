/* Reads the blocks of an index into memory, and searches the index.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "window.h"

/* ---- Reading ---- */

/* Makes room for one more entry with a separator of nbytes. Returns false if memory ran out. */
static bool reserve(struct index *index, size_t nbytes)
{
  enum { FIRST_ROOM = 16 };
  if (index->n + 1 >= index->room) {
    const size_t room = index->room ? 2 * index->room : FIRST_ROOM;
    struct handle *handles = realloc(index->handles, room * sizeof *handles);
    if (!handles)
      return false;
    index->handles = handles;
    size_t *begins = realloc(index->begins, room * sizeof *begins);
    if (!begins)
      return false;
    index->begins = begins;
    if (index->n == 0)
      begins[0] = 0;
    index->room = room;
  }
  const size_t end = index->begins[index->n] + nbytes;
  if (end >= index->separators_room) {
    const size_t room = end + index->separators_room + 1;
    uint8_t *separators = realloc(index->separators, room);
    if (!separators)
      return false;
    index->separators = separators;
    index->separators_room = room;
  }
  return true;
}

static void append(struct index *index, const struct entries *entries)
{
  const size_t begin = index->begins[index->n];
  if (entries->key_nbytes > 0)
    memcpy(index->separators + begin, entries->key, entries->key_nbytes);
  index->handles[index->n++] = entries->handle;
  index->begins[index->n] = begin + entries->key_nbytes;
}

static lanebloom_status read_entries(struct block_reader *reader, const struct block *block,
                                     struct entry_form form, const char *what, struct index *index)
{
  /* In the block, separators share prefixes; in memory, each separator is whole. To protect against
   * damaged files, the size in memory is limited to a multiple of the file's size. */
  enum { MAX_GROWTH = 8, SMALL_NBYTES = 1 << 20 };
  struct entries entries;
  lanebloom_status status =
      lanebloom_entries_begin(block, form, reader->footer.engine, reader->problem, &entries);
  if (status)
    return status;
  const uint64_t file_nbytes = reader->footer.offset;
  while (!status && lanebloom_entries_next(&entries)) {
    const uint64_t nbytes = (index->n ? index->begins[index->n] : 0) +
                            index->n * (sizeof *index->handles + sizeof *index->begins);
    if (nbytes / MAX_GROWTH > file_nbytes + SMALL_NBYTES)
      status =
          problem_set(reader->problem, LANEBLOOM_ERR_LIMIT,
                      "%s at %" PRIu64 ": expected an index of at most %d times the file's %" PRIu64
                      " bytes, found more",
                      what, block->offset, MAX_GROWTH, file_nbytes);
    else if (!reserve(index, entries.key_nbytes))
      status = problem_memory(reader->problem, entries.key_nbytes);
    else
      append(index, &entries);
  }
  lanebloom_status end = lanebloom_entries_end(&entries, what, reader->problem);
  return status ? status : end;
}

lanebloom_status lanebloom_index_read(struct block_reader *reader, struct handle handle,
                                      struct entry_form form, const char *what, struct index *index)
{
  struct block block;
  lanebloom_status status = lanebloom_block_read(reader, handle, BLOCK_INDEX, what, &block);
  if (status)
    return status;
  form.has_handles = true;
  status = read_entries(reader, &block, form, what, index);
  lanebloom_block_free(&block);
  return status;
}

void lanebloom_index_free(struct index *index)
{
  free(index->handles);
  free(index->separators);
  free(index->begins);
  free(index->windows);
  *index = (struct index){0};
}

/* ---- Searching ---- */

int lanebloom_key_compare(lanebloom_slice a, lanebloom_slice b)
{
  const size_t common = a.size < b.size ? a.size : b.size;
  const int order = common ? memcmp(a.data, b.data, common) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

lanebloom_slice lanebloom_index_separator(const struct index *index, size_t i)
{
  return (lanebloom_slice){index->separators + index->begins[i],
                           index->begins[i + 1] - index->begins[i] - index->suffix_nbytes};
}

bool lanebloom_index_ascends(const struct index *index, size_t suffix_nbytes)
{
  struct index seen = *index;
  seen.suffix_nbytes = suffix_nbytes;
  for (size_t i = 0; i < index->n; i++)
    if (index->begins[i + 1] - index->begins[i] < suffix_nbytes ||
        (i > 0 && lanebloom_key_compare(lanebloom_index_separator(&seen, i - 1),
                                        lanebloom_index_separator(&seen, i)) > 0))
      return false;
  return true;
}

bool lanebloom_index_prepare(struct index *index, size_t suffix_nbytes)
{
  index->suffix_nbytes = suffix_nbytes;
  index->windows = malloc((index->n + 1) * sizeof *index->windows);
  if (!index->windows)
    return false;
  if (index->n > 0)
    index->common = window_common(lanebloom_index_separator(index, 0),
                                  lanebloom_index_separator(index, index->n - 1));
  for (size_t i = 0; i < index->n; i++)
    index->windows[i] = window_of(index->common, lanebloom_index_separator(index, i));
  return true;
}

/* Returns the number of the first block whose separator's window is not below `window`, or n if all
 * windows are below it. If the block is not before `near`, steps that begin at `near` and double in
 * size find a range that has the block. Then bisection finds the block. */
static size_t find_window(const struct index *index, uint64_t window, size_t near)
{
  /* Invariant: all windows before `first` are below `window`, and no window from `end` on is below
   * it. */
  size_t first = 0, end = index->n;
  if (near > 0 && index->windows[near - 1] >= window) {
    end = near - 1;
  } else {
    first = near;
    for (size_t step = 1; first < index->n; step *= 2) {
      const size_t at = step <= index->n - first ? first + step - 1 : index->n - 1;
      if (index->windows[at] >= window) {
        end = at;
        break;
      }
      first = at + 1;
    }
  }
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (index->windows[middle] < window)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

size_t lanebloom_index_find(const struct index *index, lanebloom_slice key, size_t near)
{
  const uint64_t window = window_of(index->common, key);
  size_t first = find_window(index, window, near);
  if (first == index->n || index->windows[first] > window)
    return first;
  size_t end = window < UINT64_MAX ? find_window(index, window + 1, first) : index->n;
  while (first < end) { /* find the first among equal windows */
    const size_t middle = first + (end - first) / 2;
    if (lanebloom_key_compare(lanebloom_index_separator(index, middle), key) < 0)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}
