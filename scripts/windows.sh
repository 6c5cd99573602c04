#!/bin/sh
# windows.sh [TAP] builds the libraries and the command for Windows on x86-64 with Debian's MinGW,
# and runs their tests under Wine. TAP is a file for the results. If MinGW, Wine or the sources of
# the codecs are missing, one test is reported as skipped, with the reason.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
tap=${1-build/windows.tap}
target=x86_64-w64-mingw32
log=$PWD/build/windows.log
mkdir -p build "$(dirname "$tap")"
: >"$tap"

skip() { # REASON
  echo "windows: skipped: $1" >&2
  echo "ok - windows # skip $1" >>"$tap"
  exit 0
}

fail() { # WHAT
  tail -n 40 "$log" >&2
  echo "not ok - windows: $1" >>"$tap"
  exit 1
}

for tool in $target-gcc-posix wine cmake ninja bats jq gnulib-tool; do
  command -v "$tool" >/dev/null ||
    skip "$tool is missing (Debian: mingw-w64, wine64, bats, jq, gnulib)"
done
[ -f /usr/include/xxhash.h ] || skip "xxhash.h is missing (Debian: libxxhash-dev)"
export WINEDEBUG=-all WINEPREFIX="$PWD/build/wine"

result=0
scripts/static-libraries.sh $target >"$log" 2>&1 || result=$?
[ $result -ne 3 ] || skip "the sources of the codecs cannot be downloaded"
[ $result -eq 0 ] || fail "the codecs"
scripts/argp.sh $target >"$log" 2>&1 || fail "argp"
installed=build/static/$target/include
cp /usr/include/xxhash.h $installed/
{
  cmake --preset windows && cmake --build --preset windows
} >"$log" 2>&1 || fail "the build"
wine wineboot --init >"$log" 2>&1 || fail "Wine"
result=0
ctest --test-dir build/windows -j "$(nproc)" --output-log "$log" -V >/dev/null 2>&1 || result=1
sed -n 's/^[0-9]*: \(\(not \)\{0,1\}ok .*\)/\1/p' "$log" >>"$tap"
exit $result
