#!/bin/sh
# argp.sh TARGET builds argp, which parses the command's options, for a system whose C library lacks
# it. The code is gnulib's, from Debian's package (GNU LGPL 3 or later), and none of it is stored in
# this tree. argp.h, libargp.a and the licence are installed in build/static/TARGET, for CMake's
# CMAKE_PREFIX_PATH. A target is named as zig names it, such as x86_64-linux-musl, or is
# x86_64-w64-mingw32 for Debian's MinGW. scripts/setup.sh argp installs what this script needs.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
target=$1
installed=$PWD/build/static/$target
[ ! -f "$installed/lib/libargp.a" ] || exit 0
command -v gnulib-tool >/dev/null ||
  { echo "argp.sh: gnulib is missing: scripts/setup.sh argp installs it" >&2; exit 1; }

case $target in
  *-w64-mingw32) set -- CC="$target-gcc" AR="$target-ar" RANLIB="$target-ranlib" ;;
  *)
    zig=${LANEBLOOM_ZIG:-$PWD/build/zig/zig}
    set -- CC="$zig cc -target $target" AR="$zig ar" RANLIB="$zig ranlib"
    ;;
esac
case $target in
  *mingw* | *windows*) set -- "$@" CFLAGS=-O2 ;;
  # The headers have this function, but only macOS 15.4 and later has it itself.
  *macos*) set -- "$@" CFLAGS="-O2 -fPIC" ac_cv_func_strchrnul=no ;;
  *) set -- "$@" CFLAGS="-O2 -fPIC" ;;
esac

build=$PWD/build/argp/$target
rm -rf "$build"
mkdir -p "$build" "$installed/include" "$installed/lib"
cd "$build"
{
  [ -d ../gnulib ] || {
    gnulib-tool --create-testdir --without-tests --dir="../gnulib.$target" argp
    mv "../gnulib.$target" ../gnulib
  }
  ../gnulib/configure --host="$target" "$@"
  make -C gllib
} >build.log 2>&1 || { tail -n 20 build.log >&2; exit 1; }
# The header expects macros of gnulib's config.h.
{
  printf '#define %s\n' '_GL_ATTRIBUTE_FORMAT(specification)' _GL_INLINE_HEADER_BEGIN \
    _GL_INLINE_HEADER_END 'ARGP_EI extern inline __attribute__((gnu_inline))'
  cat ../gnulib/gllib/argp.h
} >"$installed/include/argp.h"
mkdir -p "$installed/licenses"
cp /usr/share/common-licenses/LGPL-3 "$installed/licenses/argp-LGPL-3"
cp /usr/share/common-licenses/GPL-3 "$installed/licenses/argp-GPL-3"
cp gllib/libgnu.a "$installed/lib/libargp.a" # last, because the first lines test for this file
