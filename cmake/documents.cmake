# Writes the documents in the form in which they are installed: a link to a file that is not
# installed is replaced by the text of the link. Before this file is included, LANEBLOOM_INSTALLED
# must list everything that is installed in the documents' folder, with paths relative to the
# project. A folder in this list stands for all files in it.
# SPDX-License-Identifier: MIT

function(lanebloom_is_installed path variable)
  set(${variable} FALSE PARENT_SCOPE)
  foreach(installed IN LISTS LANEBLOOM_INSTALLED)
    if(path STREQUAL installed OR path MATCHES "^${installed}/")
      set(${variable} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

function(lanebloom_document document) # writes the document into the folder `documents' of the build
  cmake_path(GET document PARENT_PATH folder)
  file(READ ${PROJECT_SOURCE_DIR}/${document} text)
  string(REGEX MATCHALL "\\([^()#: ]+[^(): ]*\\)" links "${text}")
  list(REMOVE_DUPLICATES links)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\(|#.*|\\)$" "" path "${link}")
    cmake_path(SET path NORMALIZE "${folder}/${path}")
    string(REGEX REPLACE "^/|/$" "" path "${path}")
    lanebloom_is_installed("${path}" is_installed)
    if(NOT is_installed AND EXISTS ${PROJECT_SOURCE_DIR}/${path})
      string(REGEX REPLACE "([.+*?^$()])" "\\\\\\1" pattern "${link}")
      string(REGEX REPLACE "\\[([^][]*)\\]${pattern}" "\\1" text "${text}")
    endif()
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/documents/${document} "${text}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/${document})
endfunction()
