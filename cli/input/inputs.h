/* Reads inputs one after the other and delivers them in chunks. A chunk is a sequence of whole
 * records that were read together. The ends of chunks depend on what read(2) returns, not on the
 * number of workers.
 *
 * For a large regular file without quotes, inputs_next() only searches the last bytes of a chunk
 * for the end of the last record. inputs_load() then reads the chunk, while another worker handles
 * the next one. In all other cases, and at the end of each file, inputs_next() reads the data
 * itself. A compressed input is decompressed in a separate thread.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_INPUTS_H
#define LANEBLOOM_CLI_INPUTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../src/system/system.h"
#include "../system/files.h"
#include "chunk.h"
#include "file_kinds.h"
#include "records.h"

/* May records of this syntax begin with the same bytes as a file of this kind? Records of fixed
 * width may begin with any bytes. */
static inline bool may_be_records(const struct record_syntax *syntax, const struct file_kind *kind)
{
  return syntax->width > 0 || (kind->has_nuls && syntax->terminator == '\0');
}

struct inputs {
  struct input_messages messages;
  struct record_syntax syntax; /* the first header sets the numbers of its named fields */
  char *const *paths;          /* the inputs that are not opened yet */
  size_t npaths;
  size_t read_nbytes; /* the number of bytes that one read requests. inputs_begin() sets it to
                       * READ_NBYTES; the caller may then set it to MAX_READ_NBYTES or less */
  /* the regular file that the command writes, which must not be an input; zeros: none */
  struct system_info target;

  /* private */
  int fd;                            /* the open input; -1: no input is open */
  struct decompressor *decompressor; /* decompresses the open input; NULL: the input is not
                                      * compressed */
  bool at_beginning;         /* true until the first bytes of the open input have shown whether it
                              * holds records */
  bool needs_header;         /* the next record of the open input is its header */
  bool has_carriage_returns; /* lines of the open input end in CR LF, and the CR is not part of the
                              * key */
  uint64_t nbytes; /* the size that the open input had when it was opened; 0 if it is no regular
                   * file */
  const char *name;
  uint64_t input;                /* the number of inputs that were opened so far */
  _Atomic uint64_t failed_input; /* the number of the last input that had an error; 0: none */
  size_t ncarried;
  struct cutter checker; /* finds the fault in a chunk whose records have no end */
  char *header;          /* the header of the first input that has one; NULL: none yet */
  size_t header_nbytes;
  char *
      carried; /* room for read_nbytes bytes, or NULL: not allocated yet. The first `ncarried' bytes
                  * are the incomplete record after the last chunk */
};

/* Begins to read the inputs at these paths, which are borrowed. The path "-" and an empty list mean
 * standard input. `target' is the file that the command writes, or NULL. `inputs` must be zeroed
 * before its first use. */
void inputs_begin(struct inputs *inputs, const struct input_messages *messages,
                  const struct record_syntax *syntax, char *const *paths, size_t npaths,
                  const struct system_info *target);

/* If all inputs that are not open yet are regular files, returns their total size. Otherwise
 * returns 0. */
uint64_t inputs_nbytes(const struct inputs *inputs);

/* Takes the next chunk, which has a header, an error or at least one whole record. Returns false if
 * all inputs have ended. Only one thread at a time may call this. */
bool inputs_next(struct inputs *inputs, struct chunk *chunk);

/* Reads the data of the chunk, unless inputs_next() has read them. Several threads may call this at
 * once, each with its own chunk. */
void inputs_load(const struct inputs *inputs, struct chunk *chunk);

/* Call this once for each chunk, in the order of the chunks. Returns false if an earlier chunk of
 * the same input had an error; the caller must then ignore this chunk. */
bool inputs_continue(struct inputs *inputs, const struct chunk *chunk);

/* Frees the memory that the inputs allocated. */
void inputs_end(struct inputs *inputs);

/* Has the file become shorter since it was opened? Call this at the end of a file. `nbytes` is the
 * size of the file when it was opened, or 0 if the file is not regular. shrunk_text is the message
 * for this error. */
bool has_shrunk(int fd, uint64_t nbytes);
extern const char shrunk_text[];

#endif
