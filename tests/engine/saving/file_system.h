/* A limited file system.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FILE_SYSTEM_H
#define LANEBLOOM_TESTS_FILE_SYSTEM_H

#include <stdbool.h>

/* The first variable says that the file system has no nameless files and cannot change owners, and
 * the second that it has no room for ACLs. */
extern bool is_simple_file_system, has_no_room_for_acls;

/* Could anyone but the owner open a file before its ACL was set? */
extern bool was_open_too_early;

#endif
