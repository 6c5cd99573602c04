#!/bin/sh
# static-libraries.sh TARGET [codecs] builds static libraries from Debian's sources, with Debian's
# patches, and installs them, their headers and their licences in build/static/TARGET, for CMake's
# CMAKE_PREFIX_PATH. With codecs, it builds only the codecs, which is all that the libraries need;
# the command needs json-c and simdjson, too. Targets:
#   native, arm64       google/benchmark and json-c, for a static lanebloom-bench; Debian ships
#                       static libraries of the codecs
#   x86_64-w64-mingw32  by Debian's MinGW: the codecs, json-c and simdjson
#   all others          by zig, which names them, such as x86_64-linux-musl, aarch64-macos or
#                       aarch64-linux-gnu.2.28 (for glibc 2.28 and later): the same libraries
# scripts/setup.sh installs what this script needs, by the steps portable and zig. Exits with 3 if
# the sources cannot be downloaded.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
root=$PWD
target=$1
installed=$PWD/build/static/$target
packages="benchmark json-c zlib libzstd lz4 snappy bzip2 simdjson"
wanted=${2-all}
[ ! -f "$installed/has-$wanted" ] || exit 0
[ ! -f "$installed/has-all" ] || exit 0

# Options of CMake for the target.
case $target in
  native) set -- ;;
  arm64)
    set -- -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
      -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
    ;;
  *-w64-mingw32)
    set -- -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
      -DCMAKE_C_COMPILER="$target-gcc-posix" -DCMAKE_CXX_COMPILER="$target-g++-posix"
    ;;
  *)
    set -- -DCMAKE_TOOLCHAIN_FILE="$root/cmake/zig.cmake" -DLANEBLOOM_ZIG_TARGET="$target"
    ;;
esac

# Finds the mirror from which this machine gets packages, because this mirror also has their
# sources. apt checks the signatures of the sources.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
kept=$PWD/build/downloads/$codename
download() {
  "$root/scripts/download.sh" apt-get -o Dir::Etc::sourcelist="$new/sources.list" \
    -o Dir::Etc::sourceparts=- -o Dir::State::lists="$new/lists" -o Dir::Cache="$new/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}
if [ "$(cat "$kept/packages" 2>/dev/null)" != "$packages" ]; then
  new=$kept.new
  rm -rf "$new"
  mkdir -p "$new/lists/partial" "$new/cache"
  package=$(apt-get download --print-uris libbenchmark-dev | sed "s/^'//; s/'.*//")
  mirror=${package%/pool/*}
  [ "$mirror" != "$package" ] ||
    { echo "static-libraries.sh: found no mirror of Debian" >&2; exit 1; }
  echo "deb-src $mirror $codename main" >"$new/sources.list"
  (
    cd "$new"
    # shellcheck disable=SC2086 # a list
    if ! download update -qq || ! download source -qq --download-only $packages; then
      echo "static-libraries.sh: Debian's sources cannot be downloaded" >&2
      exit 3
    fi
  )
  rm -rf "$new/lists" "$new/cache" "$kept"
  echo "$packages" >"$new/packages"
  mv "$new" "$kept"
fi

build=$PWD/build/static/.build/$target
rm -rf "$build"
mkdir -p "$build" "$installed/licenses"
unpack() { # PACKAGE...
  for package; do
    dpkg-source --no-check -x "$kept/${package}_"*.dsc "$build/$package"
  done
}
install_by_cmake() { # SOURCE OPTION...
  source=$1
  shift
  cmake -S "$source" -B "$source.build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$installed" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@"
  cmake --build "$source.build"
  cmake --install "$source.build"
}
license() { # NAME FILE
  cp "$build/$2" "$installed/licenses/$1"
}
# The shell ignores set -e on the left side of ||, so the exit status is tested afterwards.
set +e
(
  set -e
  case $target in
    native | arm64)
      unpack benchmark json-c
      # Debian's patch leaves it to the caller to say which version this is.
      version=$(dpkg-parsechangelog -l "$build/benchmark/debian/changelog" -S Version)
      install_by_cmake "$build/benchmark" "$@" -DGIT_VERSION="${version%-*}" \
        -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_WERROR=OFF \
        -DBENCHMARK_USE_BUNDLED_GTEST=OFF
      ;;
    *)
      unpack zlib libzstd lz4 snappy bzip2
      cp -r cmake/codecs "$build/codecs"
      install_by_cmake "$build/codecs" "$@" -DSOURCES="$build"
      cp --remove-destination /usr/include/xxhash.h "$installed/include/" # cmake/zig.cmake links it
      license zlib zlib/LICENSE
      license zstd libzstd/LICENSE
      license lz4 lz4/lib/LICENSE
      license snappy snappy/COPYING
      license bzip2 bzip2/LICENSE
      cp /usr/share/doc/libxxhash-dev/copyright "$installed/licenses/xxhash"
      touch "$installed/has-codecs"
      [ "$wanted" = codecs ] || {
        unpack json-c simdjson
        install_by_cmake "$build/simdjson" "$@"
        license simdjson simdjson/LICENSE
      }
      ;;
  esac
  [ "$wanted" = codecs ] || {
    install_by_cmake "$build/json-c" "$@" -DBUILD_TESTING=OFF -DDISABLE_WERROR=ON
    license json-c json-c/COPYING
    touch "$installed/has-all" # last, because the first lines test for this file
  }
) >"$build/log" 2>&1
status=$?
set -e
[ "$status" = 0 ] || { tail -n 20 "$build/log" >&2; exit 1; }
