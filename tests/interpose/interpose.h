/* What the interposed calls and the server share.
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stdatomic.h>

#pragma GCC visibility push(hidden) /* the command may have functions of these names */

/* Makes the n-th call of a function end in one of the ways of calls.c. Counts its calls, also those
 * after that one, in *count. */
void arm(const char *function, unsigned long n, const char *how, atomic_ulong *count);

/* Runs the command once for each fault. Returns in the children, which go on to main(). */
void serve(const char *faults, const char *verb);

#pragma GCC visibility pop
