/* CRC-32C of known bytes, and the CPU's instructions compared with the table.
 * SPDX-License-Identifier: MIT */
#include "tables/crc32c.h"

#include <criterion/criterion.h>
#include <string.h>

#include "support.h"

static uint32_t crc_by(const struct crc32c_method *method, const void *bytes, size_t nbytes)
{
  return ~method->add(UINT32_MAX, bytes, nbytes);
}

static void check(const struct crc32c_method *method)
{
  /* RFC 3720, B.4; and the check value that catalogues of CRCs give for CRC-32C */
  static const uint8_t read_command[48] = {
      0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
  uint8_t bytes[32];
  memset(bytes, 0, sizeof bytes);
  cr_assert(crc_by(method, bytes, sizeof bytes) == 0x8a9136aa);
  memset(bytes, 0xff, sizeof bytes);
  cr_assert(crc_by(method, bytes, sizeof bytes) == 0x62a8ab43);
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)i;
  cr_assert(crc_by(method, bytes, sizeof bytes) == 0x46dd794e);
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)(31 - i);
  cr_assert(crc_by(method, bytes, sizeof bytes) == 0x113fdb5c);
  cr_assert(crc_by(method, read_command, sizeof read_command) == 0xd9963a56);
  cr_assert(crc_by(method, "123456789", 9) == 0xe3069283);
  cr_assert(crc_by(method, bytes, 0) == 0);
}

Test(crc32c, known_bytes)
{
  check(&lanebloom_crc32c_table);
  check(lanebloom_crc32c_method());
}

/* Every length at every alignment; and lengths around whole groups of lanes, which a method may
 * compute at the same time. The bytes end at an unmapped page. */
static void check_length(const struct crc32c_method *method, size_t nbytes)
{
  struct rng rng = rng_start(nbytes);
  for (size_t place = AT_END; place < NPLACES; place++) {
    struct guarded bytes = guarded_make(nbytes, place);
    rng_fill(&rng, bytes.bytes, nbytes);
    const uint32_t crc = (uint32_t)rng_next(&rng);
    test_context("%s: %zu bytes at place %zu", method->name, nbytes, place);
    if (method->add(crc, bytes.bytes, nbytes) !=
        lanebloom_crc32c_table.add(crc, bytes.bytes, nbytes))
      test_fatal("not the CRC of the table");
    cr_assert(lanebloom_crc32c(bytes.bytes, nbytes) == crc_by(method, bytes.bytes, nbytes));
    guarded_free(&bytes);
  }
}

Test(crc32c, every_length_and_alignment)
{
  const struct crc32c_method *method = lanebloom_crc32c_method();
  for (size_t nbytes = 0; nbytes <= 300; nbytes++)
    check_length(method, nbytes);
  for (size_t lane = 16; lane <= 512; lane *= 2)
    for (size_t n = 1; n <= 3; n++)
      for (size_t rest = 0; rest <= 18; rest++)
        check_length(method, 3 * lane * n + rest - 9);
  check_length(method, 4096 + 5);
  check_length(method, (1 << 20) + 13);
}

/* The test would say nothing if it compared the table with itself. */
Test(crc32c, the_instructions_of_this_cpu_are_used)
{
#if defined(__x86_64__) || defined(__aarch64__)
  cr_assert(lanebloom_crc32c_instructions.is_usable());
  cr_assert(lanebloom_crc32c_method() == &lanebloom_crc32c_instructions);
#else
  cr_assert(lanebloom_crc32c_method() == &lanebloom_crc32c_table);
#endif
}
