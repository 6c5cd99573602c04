# The toolchain for WebAssembly: Debian's packages clang, lld, wasi-libc and
# libclang-rt-14-dev-wasm32.
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
list(APPEND CMAKE_PREFIX_PATH /usr) # the place of xxhash.h
