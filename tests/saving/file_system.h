/* A file system that cannot do all.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_FILE_SYSTEM_H
#define LANEBLOOM_TESTS_FILE_SYSTEM_H

#include <stdbool.h>

/* What it shall lack: files without a name and new owners; room for ACLs. */
extern bool is_simple_file_system, has_no_room_for_acls;

/* Was a file open to more than its owner before its ACL was right? */
extern bool was_open_too_early;

#endif
