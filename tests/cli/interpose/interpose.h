/* Shared by the interposed calls and the server.
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stdatomic.h>

#pragma GCC visibility push(hidden) /* the command may have functions with these names */

/* Makes the n-th call of a function end in one of the ways that calls.c lists. Counts all calls of
 * the function in *count, also those after the n-th. */
void arm(const char *function, unsigned long n, const char *how, atomic_ulong *count);

/* Runs the command once for each fault. Returns only in the children, which continue with
 * main(). */
void serve(const char *faults, const char *verb);

#pragma GCC visibility pop
