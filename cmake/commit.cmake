# Writes OUTPUT, a header that defines LANEBLOOM_COMMIT: the commit of the checkout SOURCE, or ""
# where it is none. A file that would be the same is left alone, so that nothing is built again.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above}) # a checkout around this folder says nothing about it
set(commit)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define LANEBLOOM_COMMIT \"@commit@\"\n" @ONLY)
