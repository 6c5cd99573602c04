#!/bin/sh
# wheels.sh [--twice] [PLATFORM...] builds wheels of the Python package by zig, with the codecs
# inside, and prints their paths. Without a platform, it builds for the first of these platforms:
#   manylinux_2_28_x86_64, manylinux_2_28_aarch64   Linux with glibc 2.28 or later
#   musllinux_1_2_x86_64, musllinux_1_2_aarch64     Linux with musl 1.2.3 or later
#   macosx_13_0_arm64, macosx_13_0_x86_64           macOS 13 or later
#   win_amd64                                       Windows 10 or later
# docs/python.md says which of the wheels have been run. The same commit gives the same bytes. With
# --twice, each wheel is built again, with the codecs, in a copy of the tree that is in another
# folder, and the script fails if the two wheels differ. scripts/check_wheel.py checks what a wheel
# imports. scripts/setup.sh wheels installs what this script needs. Exits with 3 if something cannot
# be downloaded.
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
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER # ccache does not know zig

# Copies Debian's headers of Python. Debian's own pyconfig.h would choose a file of this machine.
headers() { # NAME PYCONFIG
  [ ! -d "$folder/include/$1" ] || return 0
  rm -rf "$folder/include/$1.new"
  mkdir -p "$folder/include"
  cp -rL /usr/include/python3.11 "$folder/include/$1.new"
  cp "$2" "$folder/include/$1.new/pyconfig.h"
  mv "$folder/include/$1.new" "$folder/include/$1"
}
# All platforms but Windows are 64-bit Unix systems, for which the headers need no more than the
# pyconfig.h of x86-64 says.
headers unix /usr/include/x86_64-linux-gnu/python3.11/pyconfig.h
headers windows bindings/python/windows/pyconfig.h

# Makes an import library of python3.dll with all names that the headers declare. The linker uses
# only the names that are called; check_wheel.py checks that python3.dll has these.
import_library() { # FILE
  {
    printf 'LIBRARY python3.dll\nEXPORTS\n'
    cat "$folder"/include/windows/*.h |
      sed -nE 's/^ *PyAPI_FUNC\([^)]*\) *([A-Za-z_0-9]+).*/\1/p
        s/^ *PyAPI_DATA\([^)]*\) *([A-Za-z_0-9]+).*/\1 DATA/p
        s/^# *define Py[A-Za-z_]+\s+(_Py[A-Za-z_]+_SizeT)$/\1/p' | LC_ALL=C sort -u
  } >"$1.def"
  "$zig" dlltool -m i386:x86-64 -d "$1.def" -l "$1"
}

for platform; do
  include=$folder/include/unix
  module=_lanebloom.abi3.so
  flags="-lc++ -s" # libsnappy.a is C++
  case $platform in
    manylinux_2_28_*) target=${platform#manylinux_2_28_}-linux-gnu.2.28 ;;
    musllinux_1_2_*) target=${platform#musllinux_1_2_}-linux-musl ;;
    macosx_13_0_arm64) target=aarch64-macos.13.0 ;;
    macosx_13_0_x86_64) target=x86_64-macos.13.0 ;;
    win_amd64) target=x86_64-windows-gnu ;;
    *) echo "wheels.sh: expected a platform, found '$platform'" >&2; exit 2 ;;
  esac
  case $platform in
    *linux*) flags="$flags -Wl,--version-script=$root/bindings/python/exports.map" ;;
    macosx_*) flags="$flags -Wl,-undefined,dynamic_lookup" ;; # Python has these names
    win_*)
      include=$folder/include/windows
      module=_lanebloom.pyd
      import_library "$folder/libpython3.a"
      flags="$flags $folder/libpython3.a"
      ;;
  esac
  scripts/static-libraries.sh "$target" codecs
  build=$folder/$target
  {
    cmake -S bindings/python -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_TOOLCHAIN_FILE="$root/cmake/zig.cmake" -DLANEBLOOM_ZIG_TARGET="$target" \
      -DLANEBLOOM_PYTHON_INCLUDE="$include" -DCMAKE_SHARED_LINKER_FLAGS="$flags"
    cmake --build "$build" --target _lanebloom
  } >"$folder/$target.log" 2>&1 || { tail -n 20 "$folder/$target.log" >&2; exit 1; }
  static=$root/build/static/$target/licenses
  libraries=$(dirname "$(realpath "$zig")")
  set -- lanebloom="$root/LICENSE" zig="$libraries/LICENSE" \
    libc++="$libraries/lib/libcxx/LICENSE.TXT"
  [ "$platform" != win_amd64 ] || set -- "$@" mingw-w64="$libraries/lib/libc/mingw/COPYING"
  for name in bzip2 lz4 snappy xxhash zlib zstd; do set -- "$@" "$name=$static/$name"; done
  wheel=$(scripts/pack_wheel.py "$folder" "$platform" "$build/$module" "$@")
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
