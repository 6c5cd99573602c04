/* Fuzzes the reading of JSON lines with any bytes. Every line must be a record with a key, a record
 * without a key, or a fault (a reason to refuse it). The following must be true for the results:
 *
 *   - A line that is read alone, with other bytes after it, has the same key or fault.
 *   - White space around a line changes nothing.
 *   - If a line has a key, an array with the line as its element is JSON, and has no key.
 *   - A key is not longer than its line.
 *
 *   flags, 1 byte: 1 fail at records without a key, 2 two members, 4 pointers | bytes
 *
 * SPDX-License-Identifier: MIT */
#include "input/json.h"
#include "fuzz.h"
#include "input/records.h"

enum { MAX_NBYTES = 64 << 10 };

/* The result of one line. */
struct outcome {
  enum fault_kind fault;
  bool has_key;
  size_t nbytes;
  char key[MAX_NBYTES];
};

static struct record_syntax take_syntax(struct fuzz_input *input)
{
  const uint8_t flags = input_byte(input);
  struct record_syntax syntax = {.terminator = '\n'};
  syntax.fields.dialect = DIALECT_JSON;
  syntax.fields.missing = flags & 1 ? MISSING_FAIL : MISSING_KEEP;
  syntax.fields.fields[syntax.fields.n++].name = flags & 4 ? "/a/0" : "a";
  if (flags & 2)
    syntax.fields.fields[syntax.fields.n++].name = flags & 4 ? "/b/c~1d" : "b";
  return syntax;
}

/* Reads one line, which is made of `before`, a line of nbytes, and `after`. The padding after the
 * line end is filled with `rest`, and the memory ends after the padding, so that sanitizers detect
 * reads past it. */
static void cut_alone(const struct record_syntax *syntax, const char *before, const char *line,
                      size_t nbytes, const char *after, char rest, struct outcome *outcome)
{
  static struct cutter cutter;
  const size_t nbefore = strlen(before), nafter = strlen(after);
  const size_t nall = nbefore + nbytes + nafter + 1;
  char *data = fuzz_alloc(nall + JSON_PADDING_NBYTES);
  memcpy(data, before, nbefore);
  memcpy(data + nbefore, line, nbytes);
  memcpy(data + nbefore + nbytes, after, nafter);
  data[nall - 1] = '\n';
  memset(data + nall, rest, JSON_PADDING_NBYTES);
  struct batch batch;
  cutter_begin(&cutter, syntax, data, nall, false);
  const bool is_cut = cutter_next(&cutter, &batch);
  outcome->fault = cutter.fault.kind;
  outcome->has_key = is_cut && batch_has_key(&batch, 0);
  outcome->nbytes = 0;
  CHECK(is_cut == (cutter.fault.kind == FAULT_NONE));
  if (is_cut) {
    const lanebloom_slice key = batch_key(&batch, 0);
    CHECK(batch.n == 1 && cutter.nlines == 1 && key.size <= nall);
    CHECK(outcome->has_key || key.size == 0);
    outcome->nbytes = key.size;
    memcpy(outcome->key, key.data, key.size);
  }
  cutter_end(&cutter);
  free(data);
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
  CHECK(a->fault == b->fault && a->has_key == b->has_key && a->nbytes == b->nbytes);
  CHECK(memcmp(a->key, b->key, a->nbytes) == 0);
}

/* Reads one line alone, and again with other bytes around it, and compares the results. */
static void check_line(const struct record_syntax *syntax, const char *line, size_t nbytes,
                       struct outcome *outcome)
{
  static struct outcome other;
  cut_alone(syntax, "", line, nbytes, "", '}', outcome);
  cut_alone(syntax, "", line, nbytes, "", '"', &other);
  check_same(outcome, &other);
  cut_alone(syntax, " \t", line, nbytes, "\r ", '1', &other);
  check_same(outcome, &other);
  cut_alone(syntax, "[", line, nbytes, "]", '\\', &other);
  if (outcome->has_key && nbytes < JSON_MAX_NLEVELS) /* then the array is JSON, too */
    CHECK(other.fault != FAULT_JSON && !other.has_key);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static struct cutter cutter;
  static struct outcome outcome;
  static char data[MAX_NBYTES + JSON_PADDING_NBYTES + 1];
  struct fuzz_input input = {bytes, size};
  const struct record_syntax syntax = take_syntax(&input);
  if (input.left == 0 || input.left >= MAX_NBYTES / 2)
    return 0;
  size_t nbytes = input.left;
  memcpy(data, input.at, nbytes);
  if (data[nbytes - 1] != '\n')
    data[nbytes++] = '\n';
  cutter_begin(&cutter, &syntax, data, nbytes, false);
  const char *next = data;
  size_t n = 0;
  for (struct batch batch; cutter_next(&cutter, &batch);)
    for (size_t i = 0; i < batch.n; i++, n++) {
      const lanebloom_slice key = batch_key(&batch, i);
      CHECK(batch_record(&batch, i) == next);
      next = batch_record(&batch, i + 1);
      check_line(&syntax, batch_record(&batch, i), batch.records[i].size, &outcome);
      CHECK(outcome.fault == FAULT_NONE && outcome.has_key == batch_has_key(&batch, i));
      CHECK(outcome.nbytes == key.size && memcmp(outcome.key, key.data, key.size) == 0);
    }
  CHECK(n == cutter.nrecords && n == cutter.nlines && next == cutter.next);
  if (cutter.fault.kind) {
    char text[200];
    const char *end = memchr(next, '\n', (size_t)(data + nbytes - next));
    describe_fault(&cutter, text, sizeof text);
    CHECK(strlen(text) > 0 && strlen(text) < sizeof text - 1 && cutter.fault.line == n + 1);
    check_line(&syntax, next, (size_t)(end - next), &outcome);
    CHECK(outcome.fault == cutter.fault.kind);
  } else {
    CHECK(next == data + nbytes);
  }
  cutter_end(&cutter);
  return 0;
}
