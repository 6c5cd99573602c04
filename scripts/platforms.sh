#!/bin/sh
# platforms.sh [--all] [TAP] builds the libraries for systems that this machine does not have, and
# runs what can run here. TAP is a file for the results, which test.sh counts. With Debian's
# musl-gcc and with zig it builds for Linux with musl, and runs the smoke program and the stored
# answers. With zig it compiles and links for macOS and FreeBSD. zig comes from PyPI; if it cannot
# be downloaded, these targets are skipped, with the reason. With --all it also builds the static
# command for both CPUs and tests it, and links the command for macOS and FreeBSD.
# SPDX-License-Identifier: MIT
set -eu
# shellcheck source=scripts/binding.sh
. "$(dirname "$0")/binding.sh"

configure() { # NAME OPTION...
  name=$1
  shift
  cmake "$@" -B "$folder/$name" -DLANEBLOOM_INSTALL=OFF >"$folder/$name.log" 2>&1 ||
    fail "$name: configures" "$folder/$name.log"
}

build() { # NAME TARGET...
  name=$1
  shift
  cmake --build "$folder/$name" --target "$@" >>"$folder/$name.log" 2>&1 ||
    fail "$name: compiles and links" "$folder/$name.log"
  echo "ok - $name: compiles and links" >>"$tap"
}

run() { # NAME COMMAND...
  name=$1
  shift
  "$@" >"$folder/$name.log" 2>&1 || fail "$name: $*" "$folder/$name.log"
  grep '^ok ' "$folder/$name.log" | sed "s/^ok -* */ok - $name: /" >>"$tap"
}

scripts/setup.sh musl >"$folder/setup.log" 2>&1 || skip "$(why "$folder/setup.log")"
# Only these headers are taken from this machine. All others are those of musl.
mkdir -p "$folder/root/include"
ln -sf /usr/include/xxhash.h /usr/include/simde "$folder/root/include/"
libraries="lanebloom_static lanebloom_shared lanebloom_tables_static lanebloom_tables_shared
  lanebloom_parquet_static lanebloom_parquet_shared test_smoke"
small="-DLANEBLOOM_BUILD_CLI=OFF -DLANEBLOOM_PLAIN_TESTS=ON -DLANEBLOOM_ENGINE_TESTS=OFF"
# shellcheck disable=SC2086 # lists
{
  configure musl-gcc -S . -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$(uname -m)" -DCMAKE_C_COMPILER=musl-gcc \
    -DCMAKE_EXE_LINKER_FLAGS=-static -DCMAKE_FIND_ROOT_PATH="$folder/root" \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON $small
  build musl-gcc $libraries test_vectors
}
run musl-gcc-smoke "$folder/musl-gcc/tests/test_smoke" "$folder"
run musl-gcc-vectors "$folder/musl-gcc/tests/test_vectors"

# ---- By zig --------------------------------------------------------------------------------------
scripts/setup.sh zig >"$folder/zig.log" 2>&1 || skip "$(why "$folder/zig.log")"
if [ "$(uname -m)" = x86_64 ]; then
  # shellcheck disable=SC2086 # lists
  {
    configure musl --preset musl -DLANEBLOOM_BUILD_CLI=OFF
    build musl $libraries test_vectors test_stack test_stack-files
  }
  run musl-smoke "$folder/musl/tests/test_smoke" "$folder"
  run musl-vectors "$folder/musl/tests/test_vectors"
  run musl-stack "$folder/musl/tests/test_stack"
  run musl-stack-files "$folder/musl/tests/test_stack-files" "$folder"
fi
command=-DLANEBLOOM_BUILD_CLI=OFF
[ -z "$all" ] || command=-DLANEBLOOM_BUILD_CLI=ON
for preset in macos-arm64 macos-x86_64 freebsd; do
  target=$(jq -r --arg preset "$preset" '.configurePresets[] | select(.name == $preset)
    .cacheVariables.LANEBLOOM_ZIG_TARGET' CMakePresets.json)
  if [ -n "$all" ]; then
    { scripts/setup.sh argp portable && scripts/argp.sh "$target" &&
      scripts/static-libraries.sh "$target"; } >"$folder/$preset.log" 2>&1 ||
      fail "$preset: the libraries of the command" "$folder/$preset.log"
  fi
  # not optimised, because nothing is run
  configure "$preset" --preset "$preset" -DCMAKE_BUILD_TYPE=Debug "$command"
  build "$preset" all
  zig=${LANEBLOOM_ZIG:-build/zig/zig}
  "$zig" cc -target "$target" -Iinclude tests/systems/smoke.c "$folder/$preset/liblanebloom.a" \
    -lm -o "$folder/$preset/smoke" >"$folder/$preset-smoke.log" 2>&1 ||
    fail "$preset: the smoke program links" "$folder/$preset-smoke.log"
  echo "ok - $preset: the smoke program links" >>"$tap"
done

# ---- The static command --------------------------------------------------------------------------
[ -n "$all" ] || exit 0
for cpu in x86_64 aarch64; do
  status=0
  program=$(scripts/static-command.sh "$cpu" 2>"$folder/static-$cpu.log") || status=$?
  [ "$status" != 3 ] || skip "$(why "$folder/static-$cpu.log")"
  [ "$status" = 0 ] || fail "static-$cpu: builds" "$folder/static-$cpu.log"
  COMMAND=$PWD/$program
  EMULATOR=
  [ "$cpu" = "$(uname -m)" ] || EMULATOR=qemu-$cpu
  export COMMAND EMULATOR
  run "static-$cpu" bats --tap tests/systems/static_command.bats
done
