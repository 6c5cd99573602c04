#!/bin/sh
# Runs checks beyond the compilers' warnings, in TAP: the length of lines, clang-format, shellcheck,
# clang-tidy and cppcheck; with LANEBLOOM_EXHAUSTIVE=1 also the analyzers of clang and gcc. Each
# must also find a fault that is planted for it. Kernels for other CPUs are left out: they are
# checked on a host with such a CPU.
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
mkdir "$work/code" "$work/planted" # the checkers of C take a folder with a compile_commands.json
# one kind of library is enough
jq 'unique_by(.file)' build/check/compile_commands.json >"$work/code/compile_commands.json"
jq -n --arg directory "$PWD" --arg file "$PWD/tests/planted.c" \
  '[{directory: $directory, file: $file, command: "gcc -c \($file)"}]' \
  >"$work/planted/compile_commands.json"

# Rows of Markdown tables may be longer, and so may a single word.
line_length() { # FILE...
  ! LC_ALL=C.UTF-8 grep -HInE '^.{101,}' "$@" |
    grep -vE '^[^:]*\.md:[0-9]+: *[|]|^[^:]*:[0-9]+: *([-#*>] )?[^ ]*$'
}

clang_format() { # FILE...
  clang-format --dry-run -Werror "$@"
}

# Each file has its own process, because version 14 does not see va_start() from the second file on.
# clang's analyzer takes minutes, so it runs only with LANEBLOOM_EXHAUSTIVE=1. Kernels are left out,
# because intrinsics would double its time.
clang_tidy() { # FOLDER
  sets=$(awk '!/^#/ && $1 != "scalar" { print $1 }' tests/instruction_sets.txt | paste -sd '|')
  without="/src/($sets)/"
  [ "${LANEBLOOM_EXHAUSTIVE-}" = 1 ] || without="."
  jq -r --arg without "$without" \
    '.[].file | "--checks=" + if test($without) then "-clang-analyzer-*" else "" end, .' \
    "$1/compile_commands.json" | xargs -d '\n' -n 2 -P "$(nproc)" clang-tidy -p "$1" --quiet
}

# Uninitialized values and leaks are not checked here, because cppcheck takes loops as empty,
# conditions as independent, and the contents of a compound literal as lost. clang-tidy and the
# sanitizers check them.
cpp_check() { # FOLDER
  cppcheck -j "$(nproc)" --project="$1/compile_commands.json" --quiet --error-exitcode=1 \
    --enable=warning,performance,portability \
    --suppress=uninitvar --suppress=legacyUninitvar --suppress=uninitStructMember --suppress=memleak
}

# Leaks are not checked here, because gcc 12 takes memory that is stored through a pointer as lost.
# In kernels, uninitialized values and counts of shifts are not checked, because it does not see
# what intrinsics store, and takes the number of a vector's lanes as the bits of a lane. It takes
# minutes, so it runs only with LANEBLOOM_EXHAUSTIVE=1. gcc 12 cannot analyze C++.
fanalyzer() { # FOLDER
  sets=$(awk '!/^#/ && $1 != "scalar" { print $1 }' tests/instruction_sets.txt | paste -sd '|')
  jq -r --arg sets "/src/($sets)/" \
    '.[] | select(.file | endswith(".c")) |
      .command + " -fanalyzer -Wno-analyzer-malloc-leak -Werror -o /dev/null" +
      if (.file | test($sets)) then " -Wno-analyzer-use-of-uninitialized-value" +
        " -Wno-analyzer-shift-count-overflow" else "" end' \
    "$1/compile_commands.json" |
    xargs -d '\n' -n 1 -P "$(nproc)" sh -c
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
  -o -path ./tests/vectors -o -path ./tests/report -o -path ./fuzz/regressions \) -prune \
  -o -type f ! -name LICENSE ! -name instruction_sets.txt ! -name cpus.html -print)
clean shellcheck .ci/run scripts/*.sh bench/*.sh examples/ladder/*.sh
clean cpp_check "$work/code"
clean clang_tidy "$work/code"
[ "${LANEBLOOM_EXHAUSTIVE-}" != 1 ] || clean fanalyzer "$work/code"
exit $failed
