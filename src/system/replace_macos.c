/* Defines what only macOS has (see unix.h and bsd.h).
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "bsd.h"
#include "unix.h"

const acl_type_t lanebloom_bsd_acl_types[] = {ACL_TYPE_EXTENDED};
const size_t lanebloom_bsd_nacl_types = 1;

bool lanebloom_bsd_acl_says_more(acl_t acl)
{
  return acl; /* files have no ACL for the mode */
}

/* fsync() leaves the bytes in the disk's cache. Not all file systems have the other call. */
bool lanebloom_unix_flush(int file)
{
  return fcntl(file, F_FULLFSYNC) == 0 || fsync(file) == 0;
}
