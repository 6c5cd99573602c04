#!/bin/sh
# Builds the extension for DuckDB and tests the one file in several versions of DuckDB:
# duckdb.sh [TAP], a file that results are written to, for test.sh to count. Downloads packages from
# npm's registry and PyPI; where it cannot, that is one test, skipped with the reason.
# SANITIZE=1: the extension has the address and undefined behaviour sanitizers.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
tap=${1-build/duckdb/tests.tap}
folder=$PWD/build/duckdb
tests=$PWD/bindings/duckdb/tests
versions="1.3.2 1.4.4 1.5.6 2.0.0"
node_api=1.5.6-r.1

mkdir -p "$folder" "$(dirname "$tap")"
tap=$(realpath "$tap")
: >"$tap"

skip() { # REASON
  echo "duckdb: skipped: $1" >&2
  echo "ok - duckdb # skip $1" >>"$tap"
  exit 0
}

fail() { # WHAT LOG
  cat "$2" >&2
  echo "not ok - $1" >>"$tap"
  exit 1
}

status=0
scripts/setup.sh build duckdb >"$folder/setup.log" 2>&1 || status=$?
[ "$status" != 3 ] || skip "DuckDB's headers cannot be downloaded"
[ "$status" = 0 ] || fail "setup.sh build duckdb" "$folder/setup.log"
set -- -DCMAKE_BUILD_TYPE=Release
[ -z "${SANITIZE-}" ] ||
  set -- -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 -DLANEBLOOM_SANITIZERS=address,undefined
build=$folder/build${SANITIZE:+-asan}
{
  cmake -S . -B "$build" -G Ninja "$@" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DLANEBLOOM_BUILD_DUCKDB=ON -DLANEBLOOM_BUILD_CLI=OFF -DLANEBLOOM_BUILD_TESTS=OFF &&
    cmake --build "$build" --target lanebloom_duckdb
} >"$folder/build.log" 2>&1 || fail "the extension" "$folder/build.log"
LANEBLOOM_EXTENSION=$build/bindings/duckdb/lanebloom.duckdb_extension
export LANEBLOOM_EXTENSION

rm -rf "$folder/venv"
python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1 ||
  skip "no virtual environment: $(tail -n 1 "$folder/venv.log")"
python=$folder/venv/bin/python
timeout 600 "$python" -m pip install -q numpy 'pyarrow>=24' pytest scikit-build-core \
  >"$folder/pip.log" 2>&1 ||
  skip "packages cannot be downloaded: $(grep -v '^$' "$folder/pip.log" | tail -n 1)"
"$python" -m pip install -q --no-build-isolation ./bindings/python >"$folder/wheel.log" 2>&1 ||
  fail "the Python package" "$folder/wheel.log"
for preset in release dev; do
  databases=$PWD/build/$preset/tests/test_databases
  [ ! -x "$databases" ] || export DATABASES="$databases"
done

preload= # libstdc++ too: the sanitizer looks for it once, before DuckDB brings it
[ -z "${SANITIZE-}" ] ||
  preload="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)"
status=0
cd "$folder" # where no package is beside the tests
for version in $versions; do
  if ! timeout 600 "$python" -m pip install -q --no-deps --target "$folder/$version" --upgrade \
    "duckdb==$version" >"$folder/pip.log" 2>&1; then
    echo "ok - DuckDB $version # skip $(grep -v '^$' "$folder/pip.log" | tail -n 1)" >>"$tap"
    continue
  fi
  # CPython keeps memory until it ends, so leaks are not looked for.
  LANEBLOOM_TAP=$tap PYTHONPATH=$folder/$version LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0 \
    "$python" -m pytest -q -p no:cacheprovider "$tests" || status=1
done

# DuckDB's other clients load the same file.
mkdir -p "$folder/node"
cp "$tests/client.mjs" "$folder/node"
if [ -n "${SANITIZE-}" ]; then
  :
elif ! (cd node && timeout 600 npm install --silent --no-save --ignore-scripts \
  "@duckdb/node-api@$node_api") >"$folder/npm.log" 2>&1; then
  echo "ok - Node.js # skip packages cannot be downloaded: $(tail -n 1 "$folder/npm.log")" >>"$tap"
elif node node/client.mjs >"$folder/node.log" 2>&1; then
  sed -n 's/^ok/&/p' "$folder/node.log" >>"$tap"
else
  cat "$folder/node.log" >&2
  echo "not ok - Node.js" >>"$tap"
  status=1
fi
exit $status
