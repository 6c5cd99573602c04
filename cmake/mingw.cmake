# Compiles for Windows on x86-64 with MinGW-w64's gcc, and runs programs under Wine. CMake reads
# this file because a preset names it as its toolchain (CMAKE_TOOLCHAIN_FILE).
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(machine x86_64-w64-mingw32)
# The compiler with threads of POSIX has winpthreads, which the command uses.
set(CMAKE_C_COMPILER ${machine}-gcc-posix)
set(CMAKE_CXX_COMPILER ${machine}-g++-posix)
set(CMAKE_RC_COMPILER ${machine}-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
# Programs need no other library than those of Windows.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
# Headers and libraries are searched in the compiler's own folders and in CMAKE_PREFIX_PATH, and
# never among those of this machine.
set(CMAKE_FIND_ROOT_PATH /usr/${machine} ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
