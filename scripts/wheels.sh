#!/bin/sh
# wheels.sh [PLATFORM...] builds wheels of the Python package by zig, with the codecs inside, and
# prints their paths. The same commit gives the same bytes. Without a platform, it builds for
# manylinux_2_28_x86_64: Linux with glibc 2.28 or later. manylinux_2_28_aarch64, and for Linux with
# musl musllinux_1_2_x86_64 and musllinux_1_2_aarch64, have not been tested yet.
# scripts/setup.sh wheels installs what this script needs. Exits with 3 if something cannot be
# downloaded.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
root=$PWD
folder=$PWD/build/wheels
zig=${LANEBLOOM_ZIG:-$PWD/build/zig/zig}
[ $# -gt 0 ] || set -- manylinux_2_28_x86_64
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER # ccache does not know zig

# Debian's pyconfig.h would choose a file of this machine. All platforms are 64-bit Unix systems, so
# the headers need no more than that one of x86-64 says.
headers=$folder/include/unix
[ -d "$headers" ] || {
  mkdir -p "$folder/include"
  cp -rL /usr/include/python3.11 "$headers.new"
  cp /usr/include/x86_64-linux-gnu/python3.11/pyconfig.h "$headers.new/"
  mv "$headers.new" "$headers"
}

for platform; do
  case $platform in
    manylinux_2_28_*) target=${platform#manylinux_2_28_}-linux-gnu.2.28 ;;
    musllinux_1_2_*) target=${platform#musllinux_1_2_}-linux-musl ;;
    *) echo "wheels.sh: expected a platform, found '$platform'" >&2; exit 2 ;;
  esac
  scripts/static-libraries.sh "$target" codecs
  build=$folder/$target
  {
    cmake -S bindings/python -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_TOOLCHAIN_FILE="$root/cmake/zig.cmake" -DLANEBLOOM_ZIG_TARGET="$target" \
      -DLANEBLOOM_PYTHON_INCLUDE="$headers" \
      -DCMAKE_SHARED_LINKER_FLAGS="-lc++ -s" # for libsnappy.a
    cmake --build "$build" --target _lanebloom
  } >"$folder/$target.log" 2>&1 || { tail -n 20 "$folder/$target.log" >&2; exit 1; }
  static=$root/build/static/$target/licenses
  set -- lanebloom="$root/LICENSE" libc++="$(dirname "$(realpath "$zig")")/lib/libcxx/LICENSE.TXT"
  for name in bzip2 lz4 snappy xxhash zlib zstd; do set -- "$@" "$name=$static/$name"; done
  scripts/pack_wheel.py "$folder" "$platform" "$build/_lanebloom.abi3.so" "$@"
done
