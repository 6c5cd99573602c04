/* Opens, reads and closes inputs: files on disk, or bytes in memory.
 * SPDX-License-Identifier: MIT */
#include "input.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "system/system.h"

/* Refuses a pointer of Git LFS. A repository stores such a small text in place of a large file,
 * whose own bytes are on a server. */
static lanebloom_status refuse_pointer(const struct input *input, const struct problem *problem)
{
  enum { MAX_NBYTES = 1023 }; /* by the specification of Git LFS */
  static const char begin[] = "version https://git-lfs.github.com/spec/";
  char bytes[sizeof begin - 1] = "";
  if (input->nbytes < sizeof bytes || input->nbytes > MAX_NBYTES)
    return LANEBLOOM_OK;
  if (lanebloom_input_read(input, 0, bytes, sizeof bytes, &no_problem) == LANEBLOOM_ERR_IO)
    return problem_io(problem);
  if (memcmp(bytes, begin, sizeof bytes) != 0)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "expected the file itself, found a pointer of Git LFS to it; `git lfs pull' "
                     "fetches the file");
}

lanebloom_status lanebloom_input_open(const char *path, struct input *input,
                                      const struct problem *problem)
{
  /* In a folder that other users can write, a path may be a link to anything, such as a pipe. */
  *input = (struct input){.file = lanebloom_system_open(path, false)};
  if (input->file < 0)
    return problem_io(problem);
  struct system_info found;
  if (!lanebloom_system_file_info(input->file, &found)) {
    lanebloom_status status = problem_io(problem);
    lanebloom_input_close(input);
    return status;
  }
  if (found.kind != SYSTEM_FILE) {
    lanebloom_input_close(input);
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected a regular file, found something else");
  }
  input->nbytes = found.nbytes;
  lanebloom_status status = refuse_pointer(input, problem);
  if (status)
    lanebloom_input_close(input);
  return status;
}

void lanebloom_input_close(struct input *input)
{
  if (input->file >= 0)
    lanebloom_system_close(input->file);
  input->file = -1;
}

bool lanebloom_input_has_grown(const struct input *input, uint64_t *nbytes)
{
  struct system_info found;
  if (input->file < 0 || !lanebloom_system_file_info(input->file, &found))
    return false;
  *nbytes = found.nbytes;
  return *nbytes > input->nbytes;
}

bool lanebloom_input_is_recent(const struct input *input)
{
  static const int64_t recent_seconds = 60;
  struct system_info found;
  return input->file >= 0 && lanebloom_system_file_info(input->file, &found) &&
         time(NULL) - found.changed_seconds < recent_seconds;
}

lanebloom_status lanebloom_input_read(const struct input *input, uint64_t offset, void *to,
                                      size_t nbytes, const struct problem *problem)
{
  if (input->file < 0) {
    if (nbytes > 0)
      memcpy(to, input->bytes + offset, nbytes);
    return LANEBLOOM_OK;
  }
  for (size_t done = 0; done < nbytes;) {
    const ssize_t n =
        lanebloom_system_read_at(input->file, (uint8_t *)to + done, nbytes - done, offset + done);
    if (n < 0)
      return problem_io(problem);
    if (n == 0)
      return problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                         "truncated: expected %zu bytes at %" PRIu64
                         ", found %zu; the file became shorter",
                         nbytes, offset, done);
    done += (size_t)n;
  }
  return LANEBLOOM_OK;
}
