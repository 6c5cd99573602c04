# Removes all files that the last installation from this build wrote; MANIFEST lists them. Then
# removes folders named lanebloom, and folders inside them, if they are empty.
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
        "installed it (use sudo if you installed with it)")
    endif()
  endif()
endforeach()
# Removes the manifest, so that a second run does not remove files that others install at these
# paths later.
file(REMOVE ${MANIFEST})

# Uses rmdir(1), because file(REMOVE) cannot remove folders. rmdir(1) fails if a folder has files.
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/lanebloom(/|$)")
    execute_process(COMMAND rmdir $ENV{DESTDIR}${folder} ERROR_QUIET)
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
