# A toolchain file: builds with the compiler zig for the system LANEBLOOM_ZIG_TARGET, such as
# x86_64-linux-musl, aarch64-macos or x86_64-freebsd. scripts/setup.sh zig downloads zig; the
# variable LANEBLOOM_ZIG of the environment names another one. Libraries for a target are in
# build/static/TARGET.
# SPDX-License-Identifier: MIT
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH folder)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LANEBLOOM_ZIG_TARGET)
string(REGEX MATCH "^([^-]+)-([a-z]+)" match ${LANEBLOOM_ZIG_TARGET})
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(CMAKE_SYSTEM_NAME_linux Linux)
set(CMAKE_SYSTEM_NAME_macos Darwin)
set(CMAKE_SYSTEM_NAME_freebsd FreeBSD)
set(CMAKE_SYSTEM_NAME_windows Windows)
set(CMAKE_SYSTEM_NAME ${CMAKE_SYSTEM_NAME_${CMAKE_MATCH_2}})

if(DEFINED ENV{LANEBLOOM_ZIG})
  set(zig $ENV{LANEBLOOM_ZIG})
else()
  set(zig ${folder}/build/zig/zig)
endif()
if(NOT EXISTS ${zig})
  message(FATAL_ERROR "The compiler zig is missing: scripts/setup.sh zig downloads it")
endif()
# zig compiles, archives and links, and takes the name of the tool as its first argument.
foreach(language_and_tool IN ITEMS "C cc" "CXX c++")
  separate_arguments(words UNIX_COMMAND ${language_and_tool})
  list(POP_FRONT words language tool)
  set(CMAKE_${language}_COMPILER ${zig} ${tool} -target ${LANEBLOOM_ZIG_TARGET})
  # zig adds a sanitizer to builds that are not optimised.
  set(CMAKE_${language}_FLAGS_INIT "-fno-sanitize=undefined")
endforeach()
# CMake's rules for some systems give these tools no first argument, so the tools become scripts.
foreach(tool IN ITEMS ar ranlib)
  set(script ${CMAKE_BINARY_DIR}/zig-${tool})
  file(CONFIGURE OUTPUT ${script} CONTENT "#!/bin/sh\nexec '${zig}' ${tool} \"$@\"\n" @ONLY)
  file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  string(TOUPPER CMAKE_${tool} variable)
  set(${variable} ${script} CACHE FILEPATH "A script that calls zig")
endforeach()

# Libraries and headers are those of the target, not those of this machine.
set(CMAKE_FIND_ROOT_PATH ${folder}/build/static/${LANEBLOOM_ZIG_TARGET})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Headers without a library, which are the same for all systems, are those of this machine.
foreach(header IN ITEMS xxhash.h simde)
  foreach(native IN ITEMS /usr/include /usr/local/include)
    if(EXISTS ${native}/${header} AND NOT EXISTS ${CMAKE_FIND_ROOT_PATH}/include/${header})
      file(MAKE_DIRECTORY ${CMAKE_FIND_ROOT_PATH}/include)
      file(CREATE_LINK ${native}/${header} ${CMAKE_FIND_ROOT_PATH}/include/${header} SYMBOLIC)
    endif()
  endforeach()
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_FIND_ROOT_PATH}/lib/pkgconfig)
