# Adds protections against exploits. Each is used only if the compiler and the linker accept its
# option without a warning.
# SPDX-License-Identifier: MIT
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
add_library(lanebloom_hardening INTERFACE)

# The first option works on every CPU, the second on x86, and the third on AArch64.
set(CMAKE_REQUIRED_FLAGS -Werror)
foreach(option IN ITEMS
    -fstack-protector-strong -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER LANEBLOOM_HAS${option} has)
  check_c_compiler_flag(${option} ${has})
  if(${has})
    target_compile_options(lanebloom_hardening INTERFACE ${option})
  endif()
endforeach()

# _FORTIFY_SOURCE checks calls only in optimised code. It is not used with sanitizers, which check
# more. Distributions may set a level of their own, so this level is removed first.
if(NOT LANEBLOOM_SANITIZERS)
  set(CMAKE_TRY_COMPILE_CONFIGURATION ${CMAKE_BUILD_TYPE})
  foreach(level IN ITEMS 3 2)
    set(fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
    string(JOIN " " CMAKE_REQUIRED_FLAGS -Werror ${fortify})
    set(has LANEBLOOM_HAS_FORTIFY_${level}_${CMAKE_BUILD_TYPE})
    check_c_source_compiles("
      #include <stdlib.h>
      #ifndef __OPTIMIZE__
      #error
      #endif
      int main(void) { return 0; }" ${has})
    if(${has})
      target_compile_options(lanebloom_hardening INTERFACE ${fortify})
      break()
    endif()
  endforeach()
  unset(CMAKE_TRY_COMPILE_CONFIGURATION)
endif()
unset(CMAKE_REQUIRED_FLAGS)

set(link_options relro now noexecstack)
# The linker marks a program for shadow stacks only if all its objects are marked, and Debian's
# crti.o is not marked. The code in crti.o does not change return addresses, so shadow stacks work
# with it. `shstk' makes the linker set the mark in any case.
if(LANEBLOOM_HAS_fcf_protection_full)
  list(APPEND link_options shstk)
endif()
foreach(option IN LISTS link_options)
  check_linker_flag(C LINKER:-z,${option} LANEBLOOM_HAS_Z_${option})
  if(LANEBLOOM_HAS_Z_${option})
    target_link_options(lanebloom_hardening INTERFACE LINKER:-z,${option})
  endif()
endforeach()
