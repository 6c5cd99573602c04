#!/bin/sh
# Installs the Debian packages that a step needs and that are missing: setup.sh build|demo|test|test-all|bench|report ...
# SPDX-License-Identifier: MIT
set -eu

build="cmake ninja-build gcc libc6-dev pkg-config libxxhash-dev libjson-c-dev"
demo="$build wamerican-insane wfrench wngerman"
tests="$build g++ libcriterion-dev libleveldb-dev libsnappy-dev librocksdb-dev bats jq binutils"
report="python3 python3-matplotlib"
all="$tests $report clang chromium qemu-user libbenchmark-dev libbloom-dev"
bench="g++ libbenchmark-dev libleveldb-dev librocksdb-dev libbloom-dev jq git util-linux golang-github-dcso-bloom-cli time"

packages=
for step in "$@"; do
  case $step in
    build) packages="$packages $build" ;;
    demo) packages="$packages $demo" ;;
    test) packages="$packages $tests" ;;
    test-all) packages="$packages $all" ;;
    bench) packages="$packages $bench" ;;
    report) packages="$packages $report" ;;
    *) echo "setup.sh: unknown step: $step" >&2; exit 2 ;;
  esac
done

# Lists of packages are split at spaces on purpose.
# shellcheck disable=SC2086
missing=$(for package in $(printf '%s\n' $packages | sort -u); do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || printf ' %s' "$package"
done)
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  as_root=none
fi
if ! command -v apt-get >/dev/null || [ "$as_root" = none ]; then
  echo "setup.sh: please install these (names of Debian 12's packages):$missing" >&2
  exit 1
fi
echo "Installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
