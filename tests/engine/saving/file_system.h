/* A limited file system.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FILE_SYSTEM_H
#define LANEBLOOM_TESTS_FILE_SYSTEM_H

#include <stdbool.h>

/* The limits: no nameless files and no changes of owner; no room for ACLs. */
extern bool is_simple_file_system, has_no_room_for_acls;

/* Could anyone but the owner open a file before its ACL was right? */
extern bool was_open_too_early;

#endif
