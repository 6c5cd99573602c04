/* A saved filter can be loaded from a file, from memory and from a pipe.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "containers.h"
#include "filter_files.h"
#include "support.h"

void assert_round_trip(const lanebloom_filter *filter)
{
  static uint8_t bytes[100000];
  lanebloom_filter *found;
  char why[200] = "something";
  save(filter, "f.lbf");
  const size_t size = read_file("f.lbf", bytes, sizeof bytes);

  cr_assert(lanebloom_filter_load("f.lbf", &found, NULL, 0) == LANEBLOOM_OK &&
            equal(filter, found));
  lanebloom_filter_free(found);
  cr_assert(lanebloom_filter_load("f.lbf", &found, why, sizeof why) == LANEBLOOM_OK &&
            equal(filter, found) && !*why);
  lanebloom_filter_free(found);
  cr_assert(lanebloom_filter_map("f.lbf", &found, NULL, 0) == LANEBLOOM_OK && equal(filter, found));
  lanebloom_filter_free(found);
  cr_assert(lanebloom_filter_parse(bytes, size, &found, NULL, 0) == LANEBLOOM_OK &&
            equal(filter, found));
  size_t nbytes;
  cr_assert((const uint8_t *)lanebloom_filter_bytes(found, &nbytes) == bytes + 64,
            "parsing borrows");
  lanebloom_filter_free(found);

  /* Writing to memory gives the same container. If the room is a byte too small, that fails.
   */
  uint8_t *written = test_alloc(size);
  cr_assert(lanebloom_filter_write(filter, NULL, 0, &nbytes) == LANEBLOOM_ERR_ROOM &&
            nbytes == size);
  cr_assert(lanebloom_filter_write(filter, written, size - 1, &nbytes) == LANEBLOOM_ERR_ROOM &&
            nbytes == size);
  for (size_t i = 0; i < size; i++)
    cr_assert(written[i] == 0, "byte %zu of too little room is written to", i);
  cr_assert(lanebloom_filter_write(filter, written, size, &nbytes) == LANEBLOOM_OK &&
            nbytes == size);
  test_same_bytes("written", written, bytes, size);
  free(written);
}

/* Writing to memory leaves the room after the container unchanged. */
Test(container, what_is_written_to_memory_ends_where_it_ends)
{
  static const uint8_t payload[] = {1, 2, 3, 6};
  lanebloom_filter *filter, *found;
  for (size_t n = 0; n <= sizeof payload; n++) {
    uint8_t bytes[100];
    memset(bytes, 0xa5, sizeof bytes);
    cr_assert(lanebloom_filter_parse_raw(LANEBLOOM_LEVELDB, payload, n, NULL, &filter, NULL, 0) ==
              LANEBLOOM_OK);
    size_t nbytes;
    cr_assert(lanebloom_filter_write(filter, bytes, sizeof bytes, &nbytes) == LANEBLOOM_OK &&
              nbytes == 64 + n);
    for (size_t i = 64 + n; i < sizeof bytes; i++)
      cr_assert(bytes[i] == 0xa5);
    cr_assert(lanebloom_filter_parse(bytes, 64 + n, &found, NULL, 0) == LANEBLOOM_OK &&
              equal(filter, found));
    lanebloom_filter_free(found);
    lanebloom_filter_free(filter);
  }
}

Test(container, what_is_saved_is_loaded)
{
  enter_empty_folder();
  for (size_t nkeys = 0; nkeys < 5000; nkeys = 3 * nkeys + 1) {
    lanebloom_filter *filter = build((double)(nkeys % 31), nkeys, 1);
    assert_round_trip(filter);
    lanebloom_filter_free(filter);
  }
  leave_folder();
}

Test(container, engine_bytes_of_every_kind)
{
  static const char *const kinds[] = {
      "", "\x06", "\0\x06", "\xff\xff\x00", "\xff\xff\xff", "abcdefghij\x0a"};
  enter_empty_folder();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int is_signed = 0; is_signed < 2; is_signed++) {
      lanebloom_filter *filter, *raw;
      const lanebloom_format format = is_signed ? LANEBLOOM_LEVELDB_SIGNED : LANEBLOOM_LEVELDB;
      const size_t size = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 2 : i < 5 ? 3 : 11;
      cr_assert(lanebloom_filter_parse_raw(format, kinds[i], size, NULL, &filter, NULL, 0) ==
                LANEBLOOM_OK);
      assert_round_trip(filter);
      cr_assert(lanebloom_filter_save_raw(filter, "raw") == LANEBLOOM_OK);
      uint8_t bytes[16];
      cr_assert(read_file("raw", bytes, sizeof bytes) == size &&
                memcmp(bytes, kinds[i], size) == 0);
      cr_assert(lanebloom_filter_load_raw(format, "raw", NULL, &raw, NULL, 0) == LANEBLOOM_OK &&
                equal(filter, raw));
      lanebloom_filter_free(raw);
      lanebloom_filter_free(filter);
    }
  leave_folder();
}

struct pipe_writer {
  const uint8_t *bytes;
  size_t size;
  int fd;
};

static void *write_pipe(void *argument)
{
  struct pipe_writer *writer = argument;
  for (size_t n = 0; n < writer->size;) {
    size_t nbytes = writer->size - n < 1000 ? writer->size - n : 1000;
    n += (size_t)write(writer->fd, writer->bytes + n, nbytes);
  }
  close(writer->fd);
  return NULL;
}

Test(container, a_pipe_can_be_loaded_whatever_its_size)
{
  enter_empty_folder();
  static uint8_t bytes[3000000];
  for (size_t nkeys = 1; nkeys < 2000000; nkeys *= 11) {
    lanebloom_filter *filter = build(10, nkeys, 5), *found;
    save(filter, "f.lbf");
    struct pipe_writer writer = {.bytes = bytes, .size = read_file("f.lbf", bytes, sizeof bytes)};
    for (int cut = 0; cut < 2; cut++, writer.size--) {
      int ends[2];
      char path[32];
      pthread_t thread;
      cr_assert(pipe(ends) == 0);
      writer.fd = ends[1];
      snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
      pthread_create(&thread, NULL, write_pipe, &writer);
      lanebloom_status status = lanebloom_filter_load(path, &found, NULL, 0);
      pthread_join(thread, NULL);
      close(ends[0]);
      cr_assert(status == (cut ? LANEBLOOM_ERR_CORRUPT : LANEBLOOM_OK), "%zu keys, %d cut: %d",
                nkeys, cut, status);
      cr_assert(cut || equal(filter, found));
      lanebloom_filter_free(found);
    }
    lanebloom_filter_free(filter);
  }
  leave_folder();
}
