# Writes OUTPUT, a header that defines LANEBLOOM_COMMIT: the commit of the checkout SOURCE, or "" if
# it is no checkout. A file that would stay the same is not written, so that nothing is built again.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above}) # a checkout around this folder does not count
set(commit)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define LANEBLOOM_COMMIT \"@commit@\"\n" @ONLY)
