# Writes the header OUTPUT, which defines LANEBLOOM_COMMIT and LANEBLOOM_LIBRARY_TREE. The values
# are the commit of the checkout in the folder SOURCE and git's hash of the commit's folder src/.
# Both are "" if SOURCE is no checkout; the hash is also "" if there are uncommitted changes. If the
# content would stay the same, the header is not written, so that nothing is built again.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
cmake_path(GET SOURCE PARENT_PATH above)
set(ENV{GIT_CEILING_DIRECTORIES} ${above}) # ignore a checkout that contains SOURCE
set(commit)
set(tree)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit)
elseif(NOT commit MATCHES "-dirty$")
  execute_process(COMMAND git -C ${SOURCE} rev-parse --verify --quiet HEAD:src
    OUTPUT_VARIABLE tree OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#define LANEBLOOM_COMMIT \"@commit@\"
#define LANEBLOOM_LIBRARY_TREE \"@tree@\"
")
