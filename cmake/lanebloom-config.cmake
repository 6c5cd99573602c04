# find_package(lanebloom [COMPONENTS NAME...]) reads this file. A component has the name of a
# target, without the namespace of the target.
# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/lanebloom-targets.cmake)
foreach(component IN LISTS lanebloom_FIND_COMPONENTS)
  if(TARGET lanebloom::${component})
    set(lanebloom_${component}_FOUND TRUE)
  elseif(lanebloom_FIND_REQUIRED_${component})
    set(lanebloom_FOUND FALSE)
    set(lanebloom_NOT_FOUND_MESSAGE
      "expected components of lanebloom, found ${component}; this installation has:")
    foreach(known IN ITEMS lanebloom tables parquet)
      foreach(suffix IN ITEMS "" -static)
        if(TARGET lanebloom::${known}${suffix})
          string(APPEND lanebloom_NOT_FOUND_MESSAGE " ${known}${suffix}")
        endif()
      endforeach()
    endforeach()
    break()
  endif()
endforeach()
