# Removes what the last installation from this build wrote, as MANIFEST lists it, and folders of
# lanebloom's name that are then empty.
# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "expected ${MANIFEST}, found none: nothing was installed from this build")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file IN LISTS files)
  if(EXISTS $ENV{DESTDIR}${file} OR IS_SYMLINK $ENV{DESTDIR}${file})
    message(STATUS "Removing: $ENV{DESTDIR}${file}")
    file(REMOVE $ENV{DESTDIR}${file})
    if(EXISTS $ENV{DESTDIR}${file} OR IS_SYMLINK $ENV{DESTDIR}${file})
      message(FATAL_ERROR "$ENV{DESTDIR}${file} cannot be removed: uninstall as the user who "
        "installed it (with sudo, if that was)")
    endif()
  endif()
endforeach()
# Files that others install there later are not removed.
file(REMOVE ${MANIFEST})

# file(REMOVE) removes no folders, and rmdir(1) none that has files.
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/lanebloom(/|$)")
    execute_process(COMMAND rmdir $ENV{DESTDIR}${folder} ERROR_QUIET)
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
