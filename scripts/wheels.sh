#!/bin/sh
# wheels.sh [--twice] [PLATFORM...] builds wheels of the Python package by zig, with the codecs
# inside, and prints their paths. Without a platform, it builds for the first of these platforms:
#   manylinux_2_28_x86_64, manylinux_2_28_aarch64   Linux with glibc 2.28 or later
#   musllinux_1_2_x86_64, musllinux_1_2_aarch64     Linux with musl 1.2.3 or later
# docs/python.md says which of the wheels have been run; there are none for macOS and Windows yet.
# The same commit gives the same bytes. With --twice, each wheel is built again, with the codecs, in
# a copy of the tree that is in another folder, and the script fails if the two wheels differ.
# scripts/check_wheel.py checks what a wheel imports. scripts/setup.sh wheels installs what this
# script needs. Exits with 3 if something cannot be downloaded.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
root=$PWD
folder=$PWD/build/wheels
LANEBLOOM_ZIG=${LANEBLOOM_ZIG:-$PWD/build/zig/zig}
zig=$LANEBLOOM_ZIG
twice=
[ "${1-}" != --twice ] || { twice=1; shift; }
[ $# -gt 0 ] || set -- manylinux_2_28_x86_64
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
export LANEBLOOM_ZIG SOURCE_DATE_EPOCH
exports=-Wl,--version-script=$root/bindings/python/exports.map
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
    macosx_* | win_*) echo "wheels.sh: no wheels for '$platform' yet" >&2; exit 2 ;;
    *) echo "wheels.sh: expected a platform, found '$platform'" >&2; exit 2 ;;
  esac
  scripts/static-libraries.sh "$target" codecs
  build=$folder/$target
  {
    cmake -S bindings/python -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_TOOLCHAIN_FILE="$root/cmake/zig.cmake" -DLANEBLOOM_ZIG_TARGET="$target" \
      -DLANEBLOOM_PYTHON_INCLUDE="$headers" \
      -DCMAKE_SHARED_LINKER_FLAGS="-lc++ -s $exports" # libsnappy.a is C++
    cmake --build "$build" --target _lanebloom
  } >"$folder/$target.log" 2>&1 || { tail -n 20 "$folder/$target.log" >&2; exit 1; }
  static=$root/build/static/$target/licenses
  libraries=$(dirname "$(realpath "$zig")")
  set -- lanebloom="$root/LICENSE" zig="$libraries/LICENSE" \
    libc++="$libraries/lib/libcxx/LICENSE.TXT"
  for name in bzip2 lz4 snappy xxhash zlib zstd; do set -- "$@" "$name=$static/$name"; done
  wheel=$(scripts/pack_wheel.py "$folder" "$platform" "$build/_lanebloom.abi3.so" "$@")
  echo "$wheel"
  [ -n "$twice" ] || continue
  again=$(mktemp -d)
  trap 'rm -rf "$again"' EXIT
  git ls-files -z | xargs -0 cp --parents -t "$again"
  mkdir "$again/build"
  [ ! -d build/downloads ] || ln -s "$(realpath build/downloads)" "$again/build/downloads"
  "$again/scripts/wheels.sh" "$platform" >"$again/path"
  cmp "$wheel" "$(cat "$again/path")"
  echo "built twice, with the same bytes: $(sha256sum "$wheel" | cut -d ' ' -f 1)" >&2
  rm -rf "$again"
done
