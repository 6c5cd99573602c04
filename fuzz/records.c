/* Fuzzes the reading of records with any bytes, from several inputs, in reads of any size. The
 * following must be true: the records equal the records that a loop over all bytes finds, in the
 * same order, and chunks have only whole records.
 *
 *   width, 1 byte; 0: none | flags, 1 byte: 1 NUL-terminated, 2 crlf | steps
 *   a step: what, 1 byte | bytes | if they are repeated, how many in all, 2 bytes
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "fuzz.h"
#include "input/inputs.h"

/* ---- A replacement for read(2) ---- */

enum { MAX_NINPUTS = 8, MAX_NSTEPS = 400, MAX_NBYTES = 100 << 10 };

struct step {
  enum { READ_BYTES, READ_INTERRUPTED, READ_FAILED, READ_END } what;
  size_t begin, nbytes;
};

static struct step steps[MAX_NSTEPS + 1];
static size_t nsteps, next_step;
static char all[MAX_NBYTES];

ssize_t __wrap_read(int descriptor, void *to, size_t most);

ssize_t __wrap_read(int descriptor, void *to, size_t most)
{
  CHECK(descriptor == STDIN_FILENO && next_step < nsteps);
  struct step *step = &steps[next_step];
  if (step->what == READ_BYTES) {
    const size_t n = step->nbytes < most ? step->nbytes : most;
    memcpy(to, all + step->begin, n);
    step->begin += n;
    step->nbytes -= n;
    next_step += step->nbytes == 0;
    return (ssize_t)n;
  }
  next_step++;
  errno = step->what == READ_INTERRUPTED ? EINTR : EIO;
  return step->what == READ_END ? 0 : -1;
}

/* Makes the steps (the results of calls of read()) from the input, and returns the number of inputs
 * that they describe. The bytes of a step are repeated up to the size that the step states. An
 * input ends with READ_FAILED or READ_END. */
static size_t plan(struct fuzz_input *input)
{
  size_t nbytes = 0, ninputs = 0;
  for (nsteps = next_step = 0; nsteps < MAX_NSTEPS && ninputs + 1 < MAX_NINPUTS && input->left > 0;
       nsteps++) {
    const uint8_t what = input_byte(input);
    struct step *step = &steps[nsteps];
    *step = (struct step){.what = what < 0xf0   ? READ_BYTES
                                  : what < 0xf4 ? READ_INTERRUPTED
                                  : what < 0xf8 ? READ_FAILED
                                                : READ_END,
                          .begin = nbytes};
    ninputs += step->what == READ_FAILED || step->what == READ_END;
    if (step->what != READ_BYTES)
      continue;
    const lanebloom_slice some = input_bytes(input, 1 + what % 64);
    step->nbytes = what < 0x80 ? some.size : input_number(input, 2);
    if (step->nbytes > MAX_NBYTES - nbytes)
      step->nbytes = MAX_NBYTES - nbytes;
    for (size_t i = 0; some.size > 0 && i < step->nbytes; i++)
      all[nbytes++] = ((const char *)some.data)[i % some.size];
    if (some.size == 0 || step->nbytes == 0) /* reading 0 bytes would mean the end */
      *step = (struct step){.what = READ_INTERRUPTED};
  }
  steps[nsteps++] = (struct step){.what = READ_END, .begin = nbytes};
  return ninputs + 1;
}

/* ---- Expected records ---- */

/* The state of a loop that finds the expected records of the inputs. */
struct expected {
  const struct record_syntax *syntax;
  size_t step;           /* the first step after the steps of the input */
  size_t begin, at, end; /* offsets in `all`: the input's bytes, and the next record */
  bool fails;            /* true if the input ends in an error */
};

static void expect_input(struct expected *expected)
{
  expected->begin = expected->at = expected->end;
  while (steps[expected->step].what == READ_BYTES || steps[expected->step].what == READ_INTERRUPTED)
    expected->step++;
  const struct step *last = &steps[expected->step++];
  expected->fails = last->what == READ_FAILED;
  expected->end = last->begin;
}

/* Returns the size of the next record with its terminator. The size includes a terminator even if
 * the last record of an input lacks one. */
static size_t expected_nbytes(const struct expected *expected)
{
  if (expected->syntax->width)
    return expected->syntax->width;
  size_t n = 0;
  while (expected->at + n < expected->end && all[expected->at + n] != expected->syntax->terminator)
    n++;
  return n + 1;
}

static void check_record(struct expected *expected, const struct batch *batch, size_t i)
{
  const struct record_syntax *syntax = expected->syntax;
  const size_t nbytes = expected_nbytes(expected);
  const char *record = batch_record(batch, i), *from = all + expected->at;
  const size_t left = expected->end - expected->at;
  CHECK(left > 0);
  CHECK((size_t)(batch_record(batch, i + 1) - record) == nbytes);
  CHECK(memcmp(record, from, nbytes < left ? nbytes : left) == 0);
  CHECK(nbytes <= left ||
        (nbytes == left + 1 && syntax->width == 0 && record[left] == syntax->terminator));
  size_t key_nbytes = syntax->width ? nbytes : nbytes - 1;
  if (syntax->crlf && key_nbytes > 0 && from[key_nbytes - 1] == '\r')
    key_nbytes--;
  CHECK(!syntax->width || batch->width == syntax->width);
  if (batch->records)
    CHECK(batch->records[i].data == record && batch->records[i].size == key_nbytes);
  else
    CHECK(batch_key(batch, i).data == record && batch_key(batch, i).size == key_nbytes);
  expected->at += nbytes < left ? nbytes : left;
}

static void check_chunk(struct expected *expected, const struct chunk *chunk)
{
  static struct cutter cutter;
  cutter_begin(&cutter, expected->syntax, chunk->data, chunk->nbytes, chunk->at_beginning);
  size_t n = 0;
  const char *next = chunk->data;
  for (struct batch batch; cutter_next(&cutter, &batch); n += batch.n) {
    CHECK(batch.n > 0 && batch.keys.n == batch.n && n % BATCH_NRECORDS == 0);
    CHECK(batch_record(&batch, 0) == next);
    for (size_t i = 0; i < batch.n; i++)
      check_record(expected, &batch, i);
    next = batch_record(&batch, batch.n);
  }
  CHECK(next == chunk->data + chunk->nbytes && n == cutter.nrecords && n <= READ_NBYTES);
}

/* If the input as a whole is a file of a kind that may be refused, returns this kind. Otherwise
 * returns NULL. */
static const struct file_kind *refused_kind(const struct expected *expected)
{
  const char *bytes = all + expected->begin;
  const size_t n = expected->end - expected->begin;
  const struct file_kind *kind = find_whole_file_kind(bytes, n);
  return kind && !may_be_records(expected->syntax, kind) ? kind : NULL;
}

/* Checks whether the input must be refused, however many bytes the first read returns. */
static bool is_no_records(const struct expected *expected)
{
  const struct file_kind *kind = refused_kind(expected);
  return kind && !kind->tells && !kind->has_terminators;
}

/* Checks whether the input ends within the first bytes by which compressed data are recognized. */
static bool is_truncated(const struct expected *expected)
{
  const size_t n = expected->end - expected->begin;
  const struct file_kind *kind = find_file_kind(all + expected->begin, n);
  return expected->syntax->width == 0 && kind && is_stump(kind, n);
}

/* Checks whether the input may be refused with this message. UTF-16 and UTF-32 are recognized by
 * the first bytes that were read. So an input may be refused as UTF-16 or UTF-32 although, as a
 * whole, it is neither. */
static bool is_rightly_refused(const struct expected *expected, const char *error)
{
  const char *bytes = all + expected->begin;
  if (expected->at != expected->begin)
    return false;
  if (is_line_of_returns(expected->syntax, bytes, expected->end - expected->begin))
    return strstr(error, "found carriage returns");
  return (strstr(error, "expected records") && (refused_kind(expected) || strstr(error, "UTF-"))) ||
         (strstr(error, "truncated: expected") && is_truncated(expected));
}

/* Checks an error at the end of an input. The reason must be that the last record of fixed width is
 * not whole, or that reading failed. */
static void check_error(const struct expected *expected)
{
  const size_t left = expected->end - expected->at;
  if (expected->syntax->width)
    CHECK(left < expected->syntax->width && (left > 0 || expected->fails));
  else
    CHECK(expected->fails && !memchr(all + expected->at, expected->syntax->terminator, left));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static char *const paths[MAX_NINPUTS] = {"-", "-", "-", "-", "-", "-", "-", "-"};
  static struct inputs inputs;
  struct fuzz_input input = {bytes, size};
  struct record_syntax syntax = {
      .width = input_byte(&input), .terminator = '\n', .decompress = DECOMPRESS_NONE};
  const uint8_t how = input_byte(&input);
  syntax.terminator = !syntax.width && how & 1 ? '\0' : '\n';
  syntax.crlf = !syntax.width && !(how & 1) && how & 2;
  const size_t ninputs = plan(&input);
  struct expected expected = {.syntax = &syntax};
  static struct chunk chunk; /* reused for all inputs, as a worker of the command does */
  CHECK(chunk.buffer || chunk_create(&chunk, READ_NBYTES));
  static const struct input_messages messages = {.verb = "fuzz", .container_advice = "none"};
  inputs_begin(&inputs, &messages, &syntax, paths, ninputs, NULL);
  size_t nbegun = 0;
  while (inputs_next(&inputs, &chunk)) {
    CHECK(strcmp(chunk.name, "(standard input)") == 0);
    while (nbegun == 0 ||
           (expected.at == expected.end && !expected.fails && (chunk.nbytes > 0 || *chunk.error))) {
      CHECK(nbegun++ < ninputs);
      expect_input(&expected);
    }
    if (*chunk.error) {
      CHECK(chunk.nbytes == 0);
      if (is_rightly_refused(&expected, chunk.error)) {
        next_step = expected.step; /* the rest of the input is not read */
      } else {
        CHECK(!is_no_records(&expected));
        check_error(&expected);
      }
      expected.at = expected.end;
      expected.fails = false;
    } else {
      CHECK(chunk.nbytes > 0 && !is_no_records(&expected));
      check_chunk(&expected, &chunk);
    }
  }
  while (nbegun < ninputs) { /* inputs that are empty have no chunks */
    CHECK(expected.at == expected.end && !expected.fails);
    expect_input(&expected);
    nbegun++;
  }
  CHECK(expected.at == expected.end && !expected.fails && next_step == nsteps);
  return 0;
}
