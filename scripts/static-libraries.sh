#!/bin/sh
# static-libraries.sh native|arm64 builds static libraries for a static lanebloom-bench:
# google/benchmark, json-c and ISA-L. Debian does not ship them, so they are built from Debian's
# sources. They are installed in build/static/native or build/static/arm64. scripts/setup.sh calls
# this script. Exits with 3 if the sources cannot be downloaded.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
root=$PWD
target=$PWD/build/static/$1
[ ! -f "$target/lib/libisal.a" ] || exit 0
compiler= # the prefix of the compiler's name
system=
isal=
if [ "$1" = arm64 ]; then
  compiler=aarch64-linux-gnu-
  system="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64"
  isal="host_cpu=aarch64 arch=aarch64"
fi

# Finds the mirror from which this machine gets packages, because this mirror also has their
# sources. apt checks the signatures of the sources.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
kept=$PWD/build/downloads/$codename
download() {
  "$root/scripts/download.sh" apt-get -o Dir::Etc::sourcelist="$new/sources.list" \
    -o Dir::Etc::sourceparts=- -o Dir::State::lists="$new/lists" -o Dir::Cache="$new/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}
if [ ! -d "$kept" ]; then
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
    if ! download update -qq || ! download source -qq --download-only benchmark json-c libisal; then
      echo "static-libraries.sh: Debian's sources cannot be downloaded" >&2
      exit 3
    fi
  )
  rm -rf "$new/lists" "$new/cache"
  mv "$new" "$kept"
fi
sources=$PWD/build/static/sources
rm -rf "$sources"
mkdir -p "$sources"
for archive in "$kept"/*.orig.tar.*; do
  case $archive in *.asc) ;; *) tar -xf "$archive" -C "$sources" ;; esac
done

# shellcheck disable=SC2086 # a list
install_by_cmake() { # SOURCE OPTION...
  source=$1
  shift
  cmake -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$target" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_C_COMPILER="${compiler}gcc" -DCMAKE_CXX_COMPILER="${compiler}g++" $system "$@"
  cmake --build "$source/build"
  cmake --install "$source/build"
}
rm -rf "$target"
mkdir -p "$target/lib"
{
  install_by_cmake "$(echo "$sources"/benchmark-*)" \
    -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_WERROR=OFF -DBENCHMARK_USE_BUNDLED_GTEST=OFF
  install_by_cmake "$(echo "$sources"/json-c-*/)" -DBUILD_TESTING=OFF -DDISABLE_WERROR=ON
  cd "$sources"/libisal-*/
  # shellcheck disable=SC2086 # a list
  make -f Makefile.unx lib $isal CC="${compiler}gcc" AR="${compiler}ar" STRIP="${compiler}strip"
  cp bin/isa-l.a "$target/lib/libisal.a" # last, because the first lines test for this file
} >"$sources/build.log" 2>&1 || { tail -n 20 "$sources/build.log" >&2; exit 1; }
