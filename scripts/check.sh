#!/bin/sh
# Runs checks that go beyond the warnings of compilers, and prints their results in TAP: the length
# of lines, clang-format, shellcheck, clang-tidy and cppcheck, and with LANEBLOOM_EXHAUSTIVE=1 also
# the analyzers of clang and gcc. Each of these checks must also find a fault that is planted for
# it. Kernels for other CPUs are not checked: run this script on a machine with such a CPU, too.
# Only the kernels of VSX, which no preset compiles, are compiled with a cross compiler.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2317 # checkers are called by name
set -eu
cd "$(dirname "$0")/.."
for tool in clang-format shellcheck clang-tidy cppcheck jq; do
  command -v $tool >/dev/null ||
    { echo "not ok - $tool is missing: scripts/setup.sh check installs it"; exit 1; }
done

extension=OFF # for DuckDB: scripts/setup.sh duckdb installs its headers
[ ! -f build/duckdb/include/duckdb_extension.h ] || extension=ON
cmake -S . -B build/check -G Ninja -DLANEBLOOM_BUILD_DUCKDB=$extension \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DLANEBLOOM_BUILD_TESTS=OFF >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/code" "$work/planted" # checkers of C need a compile_commands.json
# A file may be compiled several times, such as for several instruction sets. It is checked once.
jq 'unique_by(.file)' build/check/compile_commands.json >"$work/code/compile_commands.json"
jq -n --arg directory "$PWD" --arg file "$PWD/tests/tree/planted.c" \
  '[{directory: $directory, file: $file, command: "gcc -c \($file)"}]' \
  >"$work/planted/compile_commands.json"

sets=$(awk '!/^#/ && $1 != "scalar" { print $1 }' tests/kernels/instruction_sets.txt |
  paste -sd '|') # the folders of kernels

# Only rows of Markdown tables and single long words may be longer than 100 characters.
line_length() { # FILE...
  ! LC_ALL=C.UTF-8 grep -HInE '^.{101,}' "$@" |
    grep -vE '^[^:]*\.md:[0-9]+: *[|]|^[^:]*:[0-9]+: *([-#*>] )?[^ ]*$'
}

clang_format() { # FILE...
  clang-format --dry-run -Werror "$@"
}

# Checks each file in a process of its own, because clang-tidy 14 does not know va_start() in any
# file after the first. The analyzer of clang takes minutes, so it runs only with
# LANEBLOOM_EXHAUSTIVE=1. It does not analyze kernels, because intrinsics would double its time.
clang_tidy() { # FOLDER
  without="/src/($sets)/"
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || without="."
  jq -r --arg without "$without" \
    '.[].file | "--checks=" + if test($without) then "-clang-analyzer-*" else "" end, .' \
    "$1/compile_commands.json" | xargs -d '\n' -n 2 -P "$(nproc)" clang-tidy -p "$1" --quiet
}

# Does not check uninitialized values and leaks, because cppcheck is wrong about them: it assumes
# that loops do not run, that conditions are independent of each other, and that the contents of a
# compound literal are lost. clang-tidy and the sanitizers check both.
cpp_check() { # FOLDER
  cppcheck -j "$(nproc)" --project="$1/compile_commands.json" --quiet --error-exitcode=1 \
    --enable=warning,performance,portability \
    --suppress=uninitvar --suppress=legacyUninitvar --suppress=uninitStructMember --suppress=memleak
}

# Does not check leaks, because gcc 12 believes that memory is lost when its address is stored
# through a pointer. In kernels it does not check uninitialized values and the counts of shifts: gcc
# does not see what intrinsics store, and takes the number of lanes in a vector for the number of
# bits in a lane. This check takes minutes, so it runs only with LANEBLOOM_EXHAUSTIVE=1. It skips
# C++, which gcc 12 cannot analyze.
fanalyzer() { # FOLDER
  jq -r --arg sets "/src/($sets)/" \
    '.[] | select(.file | endswith(".c")) |
      .command + " -fanalyzer -Wno-analyzer-malloc-leak -Werror -o /dev/null" +
      if (.file | test($sets)) then " -Wno-analyzer-use-of-uninitialized-value" +
        " -Wno-analyzer-shift-count-overflow" else "" end' \
    "$1/compile_commands.json" |
    xargs -d '\n' -n 1 -P "$(nproc)" sh -c
}

# Compiles the kernels that no preset compiles, and takes warnings as errors.
vsx_compiles() {
  cmake -S . -B "$work/vsx" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=ppc64le \
    -DCMAKE_C_COMPILER="$vsx_compiler" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DLANEBLOOM_BUILD_TABLES=OFF -DLANEBLOOM_BUILD_PARQUET=OFF -DLANEBLOOM_BUILD_CLI=OFF \
    -DLANEBLOOM_BUILD_TESTS=OFF &&
    cmake --build "$work/vsx" --target lanebloom_objects lanebloom_vsx
}

failed=0
clean() { # COMMAND...
  if "$@" >"$work/said" 2>&1; then
    echo "ok - $1: clean"
  else
    sed 's/^/# /' "$work/said"
    echo "not ok - $1: clean"
    failed=1
  fi
}

finds() { # WORDS COMMAND...
  words=$1
  shift
  if ! "$@" >"$work/said" 2>&1 && grep -q -e "$words" "$work/said"; then
    echo "ok - $1: finds what is planted"
  else
    sed 's/^/# /' "$work/said"
    echo "not ok - $1: finds what is planted"
    failed=1
  fi
}

printf 'int  number;\n' >"$work/planted.c"
printf '#!/bin/sh\ncd work\n' >"$work/planted.sh"
head -c 101 /dev/zero | sed 's/[^ ]/- /g' >"$work/planted.md"
finds planted.md:1: line_length "$work/planted.md"
finds clang-format-violations clang_format "$work/planted.c"
finds SC2164 shellcheck "$work/planted.sh"
finds bugprone-integer-division clang_tidy "$work/planted"
finds arrayIndexOutOfBounds cpp_check "$work/planted"
if [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ]; then
  finds clang-analyzer-core.NullDereference clang_tidy "$work/planted"
  finds analyzer-possible-null-dereference fanalyzer "$work/planted"
fi

# Names of files have no spaces.
# shellcheck disable=SC2046
clean clang_format \
  $(find bench bindings cli examples fuzz include src tests -name '*.[ch]' -o -name '*.cc')
# shellcheck disable=SC2046
clean line_length $(find . \( -path ./.git -o -path ./build -o -path ./results \
  -o -path ./tests/vectors -o -path ./tests/bench/report -o -path ./fuzz/regressions \) -prune \
  -o -type f ! -name LICENSE ! -name instruction_sets.txt ! -name cpus.html -print)
clean shellcheck .ci/run scripts/*.sh bench/*.sh examples/ladder/*.sh
clean cpp_check "$work/code"
clean clang_tidy "$work/code"
[ "${LANEBLOOM_EXHAUSTIVE-}" != 1 ] || clean fanalyzer "$work/code"
vsx_compiler=powerpc64le-linux-gnu-gcc
if command -v $vsx_compiler >/dev/null; then
  clean vsx_compiles
else
  echo "ok - vsx_compiles # SKIP $vsx_compiler is missing: scripts/setup.sh check installs it"
fi
exit $failed
