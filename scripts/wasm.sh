#!/bin/sh
# wasm.sh [--all] [TAP] builds the WebAssembly modules with Debian's clang, makes the npm package
# and the page of them, and tests both in Node.js and in Chromium. TAP is a file for the results,
# which test.sh counts. If the packages of Debian cannot be installed, one test is reported as
# skipped, with the reason. With --all, a file of 200 MB is screened, too, and the types of the
# package are checked by TypeScript, which is downloaded from npm's registry.
# SPDX-License-Identifier: MIT
set -eu
# shellcheck source=scripts/binding.sh
. "$(dirname "$0")/binding.sh"

status=0
scripts/setup.sh build wasm >"$folder/setup.log" 2>&1 || status=$?
[ "$status" != 3 ] || skip "$(why "$folder/setup.log")"
[ "$status" = 0 ] || fail "setup.sh build wasm" "$folder/setup.log"
for kind in simd scalar; do
  on=OFF
  [ $kind = scalar ] || on=ON
  {
    cmake -S . -B "$folder/$kind" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/wasm.cmake" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DLANEBLOOM_HARDENING=OFF \
      -DLANEBLOOM_WITH_SIMD128=$on && cmake --build "$folder/$kind"
  } >"$folder/build.log" 2>&1 || fail "the module $kind" "$folder/build.log"
  cp "$folder/$kind/lanebloom.wasm" "bindings/wasm/lanebloom-$kind.wasm" # git ignores it
done
node bindings/wasm/page/make.mjs bindings/wasm "$folder/screen.html"

# The command with whose answers the tests compare.
for LANEBLOOM_COMMAND in "$PWD/build/release/cli/lanebloom" "$PWD/build/dev/cli/lanebloom" ""; do
  [ ! -x "$LANEBLOOM_COMMAND" ] || break
done
if [ -z "$LANEBLOOM_COMMAND" ]; then
  {
    cmake -S . -B "$folder/native" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DLANEBLOOM_BUILD_TESTS=OFF &&
      cmake --build "$folder/native" --target lanebloom-cli
  } >"$folder/native.log" 2>&1 || fail "the command" "$folder/native.log"
  LANEBLOOM_COMMAND=$folder/native/cli/lanebloom
fi
export LANEBLOOM_COMMAND LANEBLOOM_PAGE="$folder/screen.html" LANEBLOOM_ALL="$all"

rm -rf "$folder/user"
mkdir -p "$folder/user"
{
  npm pack --silent --ignore-scripts --pack-destination "$folder/user" ./bindings/wasm &&
    npm install --prefix "$folder/user" --silent --offline --no-audit --no-fund \
      "$folder/user"/lanebloom-*.tgz
} >"$folder/npm.log" 2>&1 || fail "npm installs the package" "$folder/npm.log"
if [ -n "$all" ]; then
  if scripts/download.sh npm install --prefix "$folder/types" --silent --no-save --ignore-scripts \
    typescript@5.9.3 >"$folder/typescript.log" 2>&1; then
    cp "$tests/types.ts" "$folder/user"
    "$folder/types/node_modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext \
      "$folder/user/types.ts" >"$folder/types.log" 2>&1 || fail "types" "$folder/types.log"
    echo "ok - types" >>"$tap"
  else
    echo "ok - types # skip TypeScript: $(why "$folder/typescript.log")" >>"$tap"
  fi
fi

status=0
LANEBLOOM_USER=$folder/user LANEBLOOM_SMOKE=$folder \
  node --test --test-reporter=tap "$tests"/*.test.mjs >"$folder/output.tap" 2>&1 || status=1
[ "$status" = 0 ] || cat "$folder/output.tap" >&2
sed -n -E 's/^((not )?ok) [0-9]+ /\1 /p' "$folder/output.tap" >>"$tap"
exit $status
