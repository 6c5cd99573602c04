# Writes the header OUTPUT, which defines LANEBLOOM_COMMIT. The value is the commit of the checkout
# in the folder SOURCE, or "" if SOURCE is no checkout. If the content would stay the same, the
# header is not written, so that nothing is built again.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above}) # ignore a checkout that contains SOURCE
set(commit)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define LANEBLOOM_COMMIT \"@commit@\"\n" @ONLY)
