/* Defines what only FreeBSD has (see unix.h and bsd.h).
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "bsd.h"
#include "unix.h"

const acl_type_t lanebloom_bsd_acl_types[] = {ACL_TYPE_ACCESS, ACL_TYPE_NFS4};
const size_t lanebloom_bsd_nacl_types = 2;

bool lanebloom_bsd_acl_says_more(acl_t acl)
{
  int trivial = 0;
  return acl_is_trivial_np(acl, &trivial) != 0 || !trivial;
}

bool lanebloom_unix_flush(int file)
{
  return fsync(file) == 0;
}
