/* Decompresses an input in a thread, which fills a ring of pieces that the caller takes one by one.
 * If the caller needs no more data while the thread waits for a pipe, the thread is detached: it
 * ends when the pipe delivers data or closes, or together with the command. The thread is not
 * cancelled, because pthread_cancel() allocates memory, and aborts the command if memory runs out.
 * SPDX-License-Identifier: MIT */
#include "decompress.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/system/system.h"
#include "../system/threads.h"
#include "inputs.h"

/* While one piece is filled and one is taken, a third one is ready, so that neither side waits for
 * the other. */
enum { NPIECES = 3 };

struct piece {
  char bytes[READ_NBYTES];
  size_t nbytes; /* 0: the file has ended, or there is an error */
  size_t nread;  /* the bytes of the file that were read since the previous piece */
  struct codec_error error;
};

struct decompressor {
  struct decoder *decoder;
  struct codec_step step;
  int fd; /* a duplicate of the caller's descriptor */
  bool has_thread, has_ended;
  atomic_bool is_abandoned;
  atomic_int nowners; /* the owners are the thread and its creator; the last owner to release the
                       * decompressor frees it */
  pthread_t thread;
  struct tokens nfree, nfilled; /* a token for each free piece, and for each filled piece */
  size_t next;                  /* the index of the piece that is taken next */
  struct piece pieces[NPIECES];
  char file_bytes[READ_NBYTES];
};

/* ---- Filling pieces ---- */

/* Reads more of the file. Returns false at the end of the file and on an error. */
static bool read_file(struct decompressor *decompressor, struct piece *piece)
{
  const int64_t n = lanebloom_system_read(decompressor->fd, decompressor->file_bytes,
                                          sizeof decompressor->file_bytes);
  if (n < 0)
    snprintf(piece->error.text, sizeof piece->error.text, "%s", strerror(errno));
  else if (n == 0)
    decoder_end(decompressor->decoder, &piece->error);
  if (n <= 0)
    return false;
  piece->nread += (size_t)n;
  decompressor->step.in = decompressor->file_bytes;
  decompressor->step.nin = (size_t)n;
  return true;
}

/* Fills a piece with the output of the bytes that were read so far. Does not wait until the piece
 * is full, because more bytes may arrive much later. */
static void fill(struct decompressor *decompressor, struct piece *piece)
{
  struct codec_step *step = &decompressor->step;
  piece->nbytes = piece->nread = 0;
  piece->error = (struct codec_error){0};
  bool was_full = step->out && step->nout == 0; /* if so, the decoder may hold more output */
  step->out = piece->bytes;
  step->nout = sizeof piece->bytes;
  while (step->nout == sizeof piece->bytes) {
    if (step->nin == 0 && !was_full && !read_file(decompressor, piece))
      return;
    if (!decoder_run(decompressor->decoder, step, &piece->error))
      return;
    was_full = false;
  }
  piece->nbytes = sizeof piece->bytes - step->nout;
}

static void release(struct decompressor *decompressor)
{
  if (--decompressor->nowners > 0)
    return;
  lanebloom_system_close(decompressor->fd);
  tokens_destroy(&decompressor->nfree);
  tokens_destroy(&decompressor->nfilled);
  decoder_destroy(decompressor->decoder);
  free(decompressor);
}

static void *run(void *argument)
{
  struct decompressor *decompressor = argument;
  bool is_last = false;
  for (size_t i = 0; !is_last; i = (i + 1) % NPIECES) {
    take(&decompressor->nfree);
    if (decompressor->is_abandoned)
      break;
    fill(decompressor, &decompressor->pieces[i]);
    is_last = decompressor->pieces[i].nbytes == 0;
    give(&decompressor->nfilled);
  }
  release(decompressor);
  return NULL;
}

/* ---- Taking pieces ---- */

struct decompressor *decompressor_create(enum codec codec, int fd, const char *bytes, size_t nbytes)
{
  struct decompressor *decompressor = malloc(sizeof *decompressor);
  struct decoder *decoder = decoder_create(codec);
  const int own = lanebloom_system_duplicate(fd);
  if (!decompressor || !decoder || own < 0) {
    if (own >= 0)
      lanebloom_system_close(own);
    free(decompressor);
    decoder_destroy(decoder);
    return NULL;
  }
  decompressor->decoder = decoder;
  decompressor->fd = own;
  decompressor->next = 0;
  decompressor->has_ended = false;
  atomic_init(&decompressor->is_abandoned, false);
  memcpy(decompressor->file_bytes, bytes, nbytes);
  decompressor->step = (struct codec_step){.in = decompressor->file_bytes, .nin = nbytes};
  tokens_create(&decompressor->nfree, NPIECES);
  tokens_create(&decompressor->nfilled, 0);
  atomic_init(&decompressor->nowners, 2);
  decompressor->has_thread = start_thread(&decompressor->thread, run, decompressor);
  if (!decompressor->has_thread)
    decompressor->nowners = 1;
  return decompressor;
}

int64_t decompressor_read(struct decompressor *decompressor, char *to, size_t *nread,
                          struct codec_error *error)
{
  struct piece *piece = &decompressor->pieces[decompressor->next];
  if (decompressor->has_thread)
    take(&decompressor->nfilled);
  else
    fill(decompressor, piece);
  const int64_t nbytes = *piece->error.text ? -1 : (int64_t)piece->nbytes;
  *nread = piece->nread;
  if (nbytes < 0)
    *error = piece->error;
  else
    memcpy(to, piece->bytes, piece->nbytes);
  decompressor->has_ended = nbytes <= 0;
  decompressor->next = (decompressor->next + 1) % NPIECES;
  give(&decompressor->nfree);
  return nbytes;
}

void decompressor_destroy(struct decompressor *decompressor)
{
  if (!decompressor)
    return;
  decompressor->is_abandoned = true;
  give(&decompressor->nfree);
  if (decompressor->has_thread && decompressor->has_ended)
    pthread_join(decompressor->thread, NULL);
  else if (decompressor->has_thread)
    pthread_detach(decompressor->thread);
  release(decompressor);
}
