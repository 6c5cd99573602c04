#!/bin/sh
# duckdb.sh [--all] [TAP] builds the extension for DuckDB, and tests this one file in several
# versions of DuckDB. TAP is a file for the results, which test.sh counts. Without --all, only the
# oldest and the newest version are tested, and Node.js is not tested. Packages are downloaded from
# npm's registry and from PyPI. If a download fails, one test is reported as skipped, with the
# reason. With SANITIZE=1 the extension is built with the address and the undefined behaviour
# sanitizer.
# SPDX-License-Identifier: MIT
set -eu
# shellcheck source=scripts/binding.sh
. "$(dirname "$0")/binding.sh"
versions="1.3.2 2.0.0"
[ -z "$all" ] || versions="1.3.2 1.4.4 1.5.6 2.0.0"
node_api=1.5.6-r.1

status=0
scripts/setup.sh build duckdb >"$folder/setup.log" 2>&1 || status=$?
[ "$status" != 3 ] || skip "$(why "$folder/setup.log")"
[ "$status" = 0 ] || fail "setup.sh build duckdb" "$folder/setup.log"
make_environment numpy 'pyarrow>=24' pytest scikit-build-core
# The folders of DuckDB's versions are reused in the next run. A folder gets its final name only
# when it is complete.
for version in $versions; do
  new=$folder/venv/duckdb-$version.new
  [ ! -d "$folder/venv/duckdb-$version" ] || continue
  rm -rf "$new"
  if scripts/download.sh "$python" -m pip install -q --no-deps --target "$new" \
    "duckdb==$version" >"$folder/pip.log" 2>&1; then
    mv "$new" "$folder/venv/duckdb-$version"
  else
    echo "ok - DuckDB $version # skip $(why "$folder/pip.log")" >>"$tap"
  fi
done
node= # Node.js is another client of DuckDB, which loads the same file
if [ -n "$all" ] && [ -z "${SANITIZE-}" ]; then
  mkdir -p "$folder/node"
  if scripts/download.sh npm install --prefix "$folder/node" --silent --no-save --ignore-scripts \
    "@duckdb/node-api@$node_api" >"$folder/npm.log" 2>&1; then
    node=1
  else
    echo "ok - Node.js # skip packages cannot be downloaded: $(why "$folder/npm.log")" >>"$tap"
  fi
fi

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

"$python" -m pip install -q --no-index --no-build-isolation --force-reinstall --no-deps \
  --config-settings build-dir="$folder/venv/build" ./bindings/python >"$folder/wheel.log" 2>&1 ||
  fail "the Python package" "$folder/wheel.log"

preload= # libstdc++ is preloaded, too: the sanitizer looks for it only once, before DuckDB loads it
[ -z "${SANITIZE-}" ] ||
  preload="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)"
status=0
cd "$folder" # this folder has no package of the same name
for version in $versions; do
  [ -d "$folder/venv/duckdb-$version" ] || continue
  # CPython keeps memory until it ends, so a check of leaks would fail.
  LANEBLOOM_TAP=$tap PYTHONPATH=$folder/venv/duckdb-$version LD_PRELOAD=$preload \
    ASAN_OPTIONS=detect_leaks=0 "$python" -m pytest -q -p no:cacheprovider "$tests" || status=1
done

if [ -n "$node" ]; then
  cp "$tests/client.mjs" node
  if node node/client.mjs >"$folder/node.log" 2>&1; then
    sed -n 's/^ok/&/p' "$folder/node.log" >>"$tap"
  else
    cat "$folder/node.log" >&2
    echo "not ok - Node.js" >>"$tap"
    status=1
  fi
fi
exit $status
