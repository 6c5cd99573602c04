# The WebAssembly module: the library without the functions that read and write files, and the code
# of the command that cuts CSV files into records. The top CMakeLists.txt includes this file.
set(module_cli cli/base/characters.c cli/base/decimals.c cli/base/find_last.c
  cli/input/byte_ranges.c cli/input/digest_none.c cli/input/encoded_bytes.c cli/input/fields.c
  cli/input/file_kinds.c cli/input/key_form.c cli/input/partition_key.c
  cli/input/records.c cli/input/separated.c cli/input/typed_text.c)
list(REMOVE_ITEM LANEBLOOM_SOURCES src/file.c)
list(FILTER LANEBLOOM_SOURCES EXCLUDE REGEX "^src/arrow/")
add_library(lanebloom_engine OBJECT ${LANEBLOOM_SOURCES})
add_executable(lanebloom_wasm ${module_cli} bindings/wasm/src/csv.c)
add_executable(smoke tests/systems/smoke.c) # a program for WASI, which tests/smoke.test.mjs runs
set_target_properties(lanebloom_wasm PROPERTIES OUTPUT_NAME lanebloom)
target_link_options(smoke PRIVATE -Wl,--allow-undefined) # the functions for files
foreach(target IN ITEMS lanebloom_engine lanebloom_wasm smoke)
  target_include_directories(${target} PRIVATE include)
  target_include_directories(${target} SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE lanebloom_options)
endforeach()
foreach(target IN ITEMS lanebloom_wasm smoke)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:lanebloom_engine>)
  set_target_properties(${target} PROPERTIES SUFFIX .wasm)
  foreach(set IN LISTS LANEBLOOM_INSTRUCTION_SETS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:lanebloom_${set}>)
  endforeach()
endforeach()
# src/csv.c exports its own functions.
set(module_exports malloc free
  lanebloom_version lanebloom_status_text
  lanebloom_format_count lanebloom_format_at lanebloom_format_name lanebloom_format_describe
  lanebloom_encoding_name lanebloom_encoding_by_name lanebloom_key_form_text
  lanebloom_keys_fixed lanebloom_keys_offsets32
  lanebloom_filter_parse lanebloom_filter_parse_raw lanebloom_filter_write lanebloom_filter_bytes
  lanebloom_filter_describe lanebloom_filter_screen lanebloom_filter_free
  lanebloom_builder_create lanebloom_builder_create_for_rate lanebloom_builder_add
  lanebloom_builder_set_key_form lanebloom_builder_finish lanebloom_builder_free
  lanebloom_kernel_active lanebloom_kernel_use)
list(TRANSFORM module_exports PREPEND -Wl,--export=)
# A call takes up to 80 KiB of stack. The stack is at the beginning of the memory, so a call that
# takes more than there is traps, and overwrites nothing.
target_link_options(lanebloom_wasm PRIVATE -nostartfiles -Wl,--no-entry -Wl,--stack-first
  -Wl,-z,stack-size=262144 -Wl,--strip-all ${module_exports})
if(NOT LANEBLOOM_WITH_SIMD128) # the linker then refuses objects with other instructions
  target_link_options(lanebloom_wasm PRIVATE -Wl,--features=mutable-globals)
endif()
