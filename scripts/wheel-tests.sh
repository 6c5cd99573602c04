#!/bin/sh
# wheel-tests.sh [--all] [TAP] builds the wheel of scripts/wheels.sh for this machine's CPU and
# glibc, checks what it imports, installs it in a separate environment, and runs the tests of the
# package. TAP is a file for the results, which test.sh counts. With --all it builds this wheel
# twice, compares the two, and builds and checks the wheels for all other platforms. If the compiler
# zig, sources or packages cannot be downloaded, one test is reported as skipped, with the reason.
# SPDX-License-Identifier: MIT
set -eu
# shellcheck source=scripts/binding.sh
. "$(dirname "$0")/binding.sh"
tests=$PWD/bindings/python/tests

status=0
scripts/setup.sh wheels >"$folder/setup.log" 2>&1 || status=$?
[ "$status" != 3 ] || skip "$(why "$folder/setup.log")"
[ "$status" = 0 ] || fail "setup.sh wheels" "$folder/setup.log"
make_environment numpy 'pyarrow>=24' polars pandas pytest mypy auditwheel lief abi3info

build() { # PLATFORM [OPTION]: sets `wheel'
  status=0
  # shellcheck disable=SC2086 # no option is no argument
  wheel=$(scripts/wheels.sh ${2-} "$1" 2>"$folder/$1.log") || status=$?
  [ "$status" != 3 ] || skip "$(why "$folder/$1.log")"
  [ "$status" = 0 ] || fail "$1: builds" "$folder/$1.log"
  echo "ok - $1: builds" >>"$tap"
  "$python" scripts/check_wheel.py "$wheel" >"$folder/$1.log" 2>&1 ||
    fail "$1: imports only what its systems have" "$folder/$1.log"
  echo "ok - $1: imports only what its systems have" >>"$tap"
}

native=manylinux_2_28_$(uname -m)
if [ -n "$all" ]; then
  for platform in manylinux_2_28_x86_64 manylinux_2_28_aarch64 musllinux_1_2_x86_64 \
    musllinux_1_2_aarch64 macosx_13_0_arm64 macosx_13_0_x86_64 win_amd64; do
    [ "$platform" = "$native" ] || build "$platform"
  done
fi
build "$native" ${all:+--twice}

{
  "$python" -m pip uninstall -q -y lanebloom &&
    "$python" -m pip install -q --no-index "$wheel"
} >"$folder/install.log" 2>&1 || fail "the wheel installs" "$folder/install.log"
cd "$folder" # this folder has no package of the same name
LANEBLOOM_TAP=$tap LANEBLOOM_WHEEL=$wheel \
  "$python" -m pytest -q -p no:cacheprovider "$tests"
