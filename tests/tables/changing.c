/* Files that change while a call reads them.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tables.h"

/* While a table is being written, its file grows and has no footer yet. */
Test(tables, being_written)
{
  static const size_t sizes[] = {0, 20, 2000};
  char path[PATH_NBYTES], folder[PATH_NBYTES], copy[2 * PATH_NBYTES], text[PROBLEM_NBYTES];
  const struct problem problem = {text, sizeof text};
  size_t size;
  frozen_path(8, path);
  uint8_t *bytes = test_read_file(path, &size);
  folder_make(folder);
  snprintf(copy, sizeof copy, "%s/copy.sst", folder);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct input input;
    lanebloom_table *table = NULL;
    file_write(folder, "copy.sst", bytes, sizes[i]);
    cr_assert(lanebloom_table_open(copy, 0, &table, text, sizeof text) == LANEBLOOM_ERR_FORMAT);
    cr_assert(strstr(text, "not a table, or one that is being written (try again)"), "%s", text);
    cr_assert(lanebloom_input_open(copy, &input, &problem) == LANEBLOOM_OK);
    file_write(folder, "copy.sst", bytes, sizes[i] + 1);
    cr_assert(lanebloom_table_load(&input, copy, 0, &problem, &table) == LANEBLOOM_ERR_FORMAT);
    cr_assert(!table && strncmp(text, "being written (try again): ", 27) == 0, "%s", text);
    lanebloom_input_close(&input);
  }
  folder_free(folder);
  free(bytes);
}

/* One file becomes shorter while it is read, and another one cannot be read. */
Test(tables, cut_while_it_is_read)
{
  enum { FOOTER_NBYTES = 53 };
  char path[PATH_NBYTES], folder[PATH_NBYTES], copy[2 * PATH_NBYTES], text[PROBLEM_NBYTES];
  const struct problem problem = {text, sizeof text};
  struct input input;
  struct footer footer;
  struct block block;
  size_t size;
  frozen_path(8, path);
  uint8_t *bytes = test_read_file(path, &size);
  folder_make(folder);
  file_write(folder, "copy.sst", bytes, size);
  snprintf(copy, sizeof copy, "%s/copy.sst", folder);
  cr_assert(lanebloom_input_open(copy, &input, &problem) == LANEBLOOM_OK);
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_OK);
  struct block_reader reader = {.input = &input,
                                .footer = footer,
                                .nbytes_left = footer.metaindex.nbytes,
                                .problem = &problem};
  cr_assert(lanebloom_block_read(&reader, footer.metaindex, BLOCK_META, "metaindex", &block) ==
            LANEBLOOM_ERR_CORRUPT);
  cr_assert(!block.memory && strstr(text, "do not overlap"), "%s", text);
  reader.nbytes_left = size;
  cr_assert(truncate(copy, (off_t)(size - FOOTER_NBYTES - 1)) == 0);
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_ERR_CORRUPT);
  cr_assert(truncate(copy, (off_t)reader.footer.metaindex.offset + 1) == 0);
  cr_assert(lanebloom_block_read(&reader, reader.footer.metaindex, BLOCK_META, "metaindex",
                                 &block) == LANEBLOOM_ERR_CORRUPT);
  cr_assert(!block.memory);
  lanebloom_input_close(&input);
  input.file = open(copy, O_WRONLY);
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_ERR_IO);
  lanebloom_input_close(&input);
  folder_free(folder);
  free(bytes);
}
