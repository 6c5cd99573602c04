/* Finds whether the keys of a table are in bytewise order, by reading all data blocks.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "key_form.h"

/* Is the key in order? It must not be below the previous key, and a search in the index must find
 * the key's block, or the block of an earlier equal key. */
static bool is_in_order(const struct previous_key *previous, const struct index *index,
                        size_t block, size_t suffix, lanebloom_slice key)
{
  const int step =
      previous->is_there
          ? lanebloom_key_compare((lanebloom_slice){previous->bytes, previous->nbytes}, key)
          : -1;
  if (step > 0 ||
      lanebloom_key_compare(key, user_key(lanebloom_index_separator(index, block), suffix)) > 0)
    return false;
  return step == 0 || block == 0 ||
         lanebloom_key_compare(user_key(lanebloom_index_separator(index, block - 1), suffix), key) <
             0;
}

static enum key_order order_of_entries(struct entries *entries, size_t left,
                                       const struct index *index, size_t block, size_t suffix,
                                       struct previous_key *previous)
{
  while (lanebloom_entries_next(entries)) {
    if (entries->key_nbytes < suffix)
      return ORDER_OTHER;
    if (entries->key_nbytes > left)
      return ORDER_UNKNOWN;
    left -= entries->key_nbytes;
    const lanebloom_slice key = {entries->key, entries->key_nbytes - suffix};
    if (!is_in_order(previous, index, block, suffix, key))
      return ORDER_OTHER;
    set_previous(previous, key);
  }
  return ORDER_BYTEWISE;
}

static lanebloom_status find_order_of_block(struct block_reader *reader, const struct index *index,
                                            size_t i, size_t suffix, struct previous_key *previous,
                                            enum key_order *order)
{
  struct block block;
  struct entries entries;
  lanebloom_status status =
      lanebloom_block_read(reader, index->handles[i], BLOCK_DATA, "data block", &block);
  if (status)
    return status;
  uint8_t *room =
      realloc(previous->bytes, previous->nbytes + block.nbytes + 1); /* enough for any key */
  if (room) {
    previous->bytes = room;
    status = lanebloom_entries_begin(&block, (struct entry_form){0}, reader->footer.engine,
                                     reader->problem, &entries);
  } else {
    status = LANEBLOOM_ERR_MEMORY;
  }
  if (!status) {
    *order =
        order_of_entries(&entries, max_examined_nbytes(block.nbytes), index, i, suffix, previous);
    status = lanebloom_entries_end(&entries, "data block", reader->problem);
  }
  lanebloom_block_free(&block);
  return status;
}

lanebloom_status lanebloom_key_order_find(struct block_reader *reader, const struct index *index,
                                          size_t suffix, enum key_order *order)
{
  const struct problem *problem = reader->problem;
  struct previous_key previous = {0};
  lanebloom_status status = LANEBLOOM_OK;
  *order = ORDER_BYTEWISE;
  reader->problem = &no_problem;
  for (size_t i = 0; !status && *order == ORDER_BYTEWISE && i < index->n; i++)
    status = find_order_of_block(reader, index, i, suffix, &previous, order);
  reader->problem = problem;
  free(previous.bytes);
  if (status == LANEBLOOM_ERR_IO)
    return problem_io(problem);
  if (status == LANEBLOOM_ERR_MEMORY)
    return problem_status(problem, status);
  if (status)
    *order = ORDER_UNKNOWN;
  return LANEBLOOM_OK;
}
