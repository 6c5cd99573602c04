/* Fuzzes the decoder of MinLZ blocks with any bytes. The following must be true: a block that has a
 * size either becomes as many bytes or is refused, and no other byte is written. Every byte of a
 * block stands for data, so a block that is cut off is refused, unless it only stores its data.
 *
 *   how many bytes are cut off, less 1, 2 bytes | block
 *
 * SPDX-License-Identifier: MIT */
#include "tables/pebble/minlz.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  const size_t ncut = 1 + (size_t)input_number(&input, 2);
  lanebloom_slice block = input_bytes(&input, input.left);
  size_t nbytes, cut_nbytes;
  if (!lanebloom_minlz_size(block, &nbytes)) {
    CHECK(nbytes == 0 && !lanebloom_minlz_decompress(block, NULL, 0));
    return 0;
  }
  uint8_t *data = fuzz_alloc(nbytes); /* exact, to detect writes past it */
  const bool is_whole = lanebloom_minlz_decompress(block, data, nbytes);
  block.size -= ncut < block.size ? ncut : block.size;
  if (lanebloom_minlz_size(block, &cut_nbytes) && cut_nbytes == nbytes && nbytes > 0)
    CHECK(!is_whole || !lanebloom_minlz_decompress(block, data, nbytes));
  free(data);
  return 0;
}
