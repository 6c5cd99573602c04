#!/bin/sh
# static-command.sh [x86_64|aarch64] makes build/static-command/CPU/lanebloom: the whole command as
# one static program with musl, which runs on any Linux of this CPU, beside the licences of all that
# is inside it. The CPU is that of this machine if none is named. The compiler zig comes from PyPI,
# and all other code from Debian's sources. Prints the name of the program. Exits with 3 if
# something cannot be downloaded.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
cpu=${1:-$(uname -m)}
case $cpu in
  x86_64) preset=musl ;;
  aarch64) preset=musl-arm64 ;;
  *) echo "usage: scripts/static-command.sh [x86_64|aarch64]" >&2; exit 2 ;;
esac
target=$cpu-linux-musl
made=build/static-command/$cpu
mkdir -p build/static-command

scripts/setup.sh portable argp zig >&2
scripts/argp.sh "$target"
scripts/static-libraries.sh "$target"
cmake --preset "$preset" -B "$made/build" -DLANEBLOOM_BUILD_TESTS=OFF -DLANEBLOOM_BUILD_CLI=ON \
  -DCMAKE_EXE_LINKER_FLAGS=-static >"$made.log" 2>&1 ||
  { tail -n 20 "$made.log" >&2; exit 1; }
cmake --build "$made/build" --target lanebloom-cli >>"$made.log" 2>&1 ||
  { tail -n 20 "$made.log" >&2; exit 1; }

rm -rf "$made/licenses"
cp -r "build/static/$target/licenses" "$made/licenses"
cp LICENSE "$made/licenses/lanebloom"
zig=$(realpath "${LANEBLOOM_ZIG:-build/zig/zig}")
library=$(dirname "$zig")/lib
cp "$library/libc/musl/COPYRIGHT" "$made/licenses/musl"
cp "$library/libcxx/LICENSE.TXT" "$made/licenses/llvm-libcxx"
strip="strip"
[ "$cpu" = "$(uname -m)" ] || strip=$cpu-linux-gnu-strip
"$strip" -o "$made/lanebloom" "$made/build/cli/lanebloom"
cat >"$made/NOTICE" <<'END'
The program `lanebloom' in this folder is static. It contains lanebloom (MIT) and the libraries
whose licences are in licenses/. One of them, argp, is a part of gnulib under the GNU Lesser
General Public License, version 3 or later. lanebloom's source has a script that makes this
program again, with a changed argp if you like: scripts/static-command.sh. argp's source is
Debian's package gnulib.
END
echo "$made/lanebloom"
