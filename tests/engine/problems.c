/* Problems are reported in lines that are safe to show on any terminal.
 * SPDX-License-Identifier: MIT */
#include "common/problem.h"

#include <criterion/criterion.h>

static void line_is(size_t size, const char *name, const char *expected)
{
  char text[64];
  memset(text, 'x', sizeof text);
  const struct problem problem = problem_begin(text, size);
  cr_assert(problem_set(&problem, LANEBLOOM_ERR_FORMAT, "'%s'", name) == LANEBLOOM_ERR_FORMAT);
  cr_assert(strcmp(text, expected) == 0, "expected %s, found %s", expected, text);
  for (size_t i = size; i < sizeof text; i++)
    cr_assert(text[i] == 'x', "%s: byte %zu was written", expected, i);
}

Test(problems, quote_names_plainly)
{
  static const struct {
    const char *name, *expected;
  } cases[] = {
      {"plain", "'plain'"},
      {"", "''"},
      {"two\nlines", "'two\\012lines'"},
      {"\033[31mred\177", "'\\033[31mred\\177'"},
      {"gr\303\266\303\237e \342\202\254 \360\237\220\242", "'gr\303\266\303\237e \342\202\254 "
                                                            "\360\237\220\242'"},
      {"\302\23331m", "'\\302\\23331m'"},                        /* a C1 control character */
      {"\233 \377 \303", "'\\233 \\377 \\303'"},                 /* C1 as a single byte */
      {"\300\257 \340\200\257", "'\\300\\257 \\340\\200\\257'"}, /* overlong encodings */
      {"\355\240\200", "'\\355\\240\\200'"},                     /* a surrogate */
      {"\364\220\200\200", "'\\364\\220\\200\\200'"},            /* beyond Unicode */
      {"\\033", "'\\033'"},                                      /* text that is escaped already */
      {"\330\234 \342\200\216\342\200\217",                      /* marks of direction */
       "'\\330\\234 \\342\\200\\216\\342\\200\\217'"},
      {"\330\233\330\235\342\200\215\342\200\220", /* the characters next to them */
       "'\330\233\330\235\342\200\215\342\200\220'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    line_is(64, cases[i].name, cases[i].expected);
}

Test(problems, cut_before_a_character_that_does_not_fit)
{
  line_is(1, "name", "");
  line_is(4, "name", "'na");
  line_is(6, "\033\033", "'\\033");
  line_is(5, "\033", "'");
  line_is(3, "\303\266", "'");
  line_is(4, "\303\266", "'\303\266");
}

Test(problems, no_room)
{
  const struct problem problem = problem_begin(NULL, 1);
  cr_assert(problem_set(&problem, LANEBLOOM_ERR_LIMIT, "%s", "name") == LANEBLOOM_ERR_LIMIT);
}

Test(problems, sizes_as_people_read_them)
{
  static const struct {
    double nbytes;
    const char *expected;
  } cases[] = {
      {1, "1 B"},          {999, "999 B"},           {1000, "1 kB"},     {999499, "999 kB"},
      {999500, "1 MB"},    {96636764835, "96.6 GB"}, {1.5e12, "1.5 TB"}, {2.5e17, "250 PB"},
      {0x1p64, "18.4 EB"}, {231e18, "231 EB"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[SIZE_TEXT_NBYTES];
    cr_assert_str_eq(size_text(text, cases[i].nbytes), cases[i].expected, "%s", text);
  }
  char text[200];
  const struct problem problem = problem_begin(text, sizeof text);
  cr_assert(problem_memory_to(&problem, 96636764835, "hold it") == LANEBLOOM_ERR_MEMORY);
  cr_assert_str_eq(text,
                   "out of memory: expected 96.6 GB more to hold it; end other programs, or raise "
                   "the limit of this one (ulimit -v)");
}
