/* Declares what posix.c needs of each Unix system.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_UNIX_H
#define LANEBLOOM_UNIX_H

#include <stddef.h>

/* Tells the system that huge pages suit this memory. Without them, probes are slower, but not
 * wrong. */
void lanebloom_unix_prefer_huge_pages(void *pages, size_t nbytes);

#endif
