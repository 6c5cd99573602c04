# Removes what the last installation from this build wrote, as MANIFEST lists it. Folders stay.
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
  endif()
endforeach()
