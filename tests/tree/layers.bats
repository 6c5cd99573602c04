#!/usr/bin/env bats
# Kernels are the lowest layer: they use only lanes/, layouts/, the kernel interface and scalar/,
# and allocate no memory.
# SPDX-License-Identifier: MIT

folders() { # prints the folders of instruction sets except scalar
  awk '!/^#/ && $1 != "scalar" { print $1 }' "$SOURCE_DIR/tests/kernels/instruction_sets.txt"
}

# Prints "FILE:LINE" for each include of a header in another folder that kernels must not use.
strangers() { # FILE...
  local known='(lanes|scalar|layouts)/[a-z0-9_]*|x86/[a-z]*|system/(system|cpu_x86)|common/bytes'
  known+='|kernels|batch|keys|divide'
  grep -HE '^#include ".*/' "$@" | grep -vE "\"\.\./($known)\.h\"$" || true
}

# Prints what these objects call, without calls that kernels may make: of kernels, of the functions
# of batch.h, of functions that only use existing memory, and of the compilers' own functions, which
# check or count. Constant data is left out, too.
calls() { # OBJECT...
  local own='^lanebloom_([a-z0-9_]*_(hash|probe|add|may_match)_[a-z0-9_]*|keys_.*|hash_gathered)$'
  local data='^lanebloom_xxph3_secret$'
  local memory='^(mem(cpy|move|set|cmp)|__mem[a-z]*_chk|__assert_fail|_GLOBAL_OFFSET_TABLE_)$'
  local compilers='^__(stack_chk|asan|ubsan|tsan|sanitizer|gcov|llvm)_'
  nm -u "$@" | awk '$1 == "U" { print $2 }' | grep -vE "$own|$data|$memory|$compilers" || true
}

@test "kernels include lanes/, layouts/, the kernel interface and scalar/ alone" {
  printf '#include "%s"\n' ../lanes/partitions.h ../format.h vector.h ../system/system.h \
    ../system/replace.h >"$BATS_TEST_TMPDIR/planted.c"
  [ "$(strangers "$BATS_TEST_TMPDIR/planted.c")" = \
    "$BATS_TEST_TMPDIR/planted.c:#include \"../format.h\"
$BATS_TEST_TMPDIR/planted.c:#include \"../system/replace.h\"" ]
  for folder in lanes layouts scalar x86 $(folders); do
    [ -d "$SOURCE_DIR/src/$folder" ]
    found=$(strangers "$SOURCE_DIR/src/$folder"/*.[ch])
    echo "$found"
    [ -z "$found" ]
  done
}

# Prints the lines that belong to only one instruction set: its header, its types, its intrinsics.
intrinsics() { # FILE...
  grep -HnE '<[a-z_]*(intrin|neon|sve|altivec|vector)\.h>|\<_?_mm[0-9]*_|\<__m(128|256|512|mask)|'\
'\<u?int[0-9]+x[0-9]+|\<v(ld|st)[1-4]q?_|\<v[a-z]+q?_[nu]|\<sv[a-z0-9]+_|'\
'\<__riscv_|\<vec_|\<__vector\>|\<wasm_' "$@" || true
}

@test "lanes/ knows its vocabulary, and no instruction set" {
  printf '%s;\n' 'v = _mm256_setzero_si256()' 'v = vaddq_u32(a, b)' 'v = svadd_u32_x(p, a, b)' \
    'v = __riscv_vadd_vv_u32m2(a, b, n)' 'v = vec_xl(0, p)' 'v = wasm_v128_not(a)' \
    >"$BATS_TEST_TMPDIR/planted.c"
  [ "$(intrinsics "$BATS_TEST_TMPDIR/planted.c" | wc -l)" -eq 6 ]
  found=$(intrinsics "$SOURCE_DIR"/src/lanes/*.[ch] | grep -v '^[^:]*/vocabulary.h:' || true)
  echo "$found"
  [ -z "$found" ]
}

# Prints the lines of a set that have intrinsics, with names that are the same for all sets. If
# another set has the same line, its algorithm belongs to lanes/. vector.h and kernels.c are left
# out: they are lists, and alike on purpose.
kernel_lines() { # FOLDER
  find "$1" -name '*.[ch]' ! -name vector.h ! -name kernels.c \
    -exec grep -hE '\<(_mm|v[a-z0-9]+_)' {} + |
    sed -E 's/_mm(256|512)?_/_/g; s/__m(128|256|512)i/vector/g; s/(si|i)(128|256|512)\>/\1/g
      s/^ +//' | sort -u
}

twins() { # FOLDER FOLDER: prints "SHARED ALL", numbers of lines
  kernel_lines "$1" >"$BATS_TEST_TMPDIR/first"
  kernel_lines "$2" >"$BATS_TEST_TMPDIR/second"
  echo "$(comm -12 "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second" | wc -l)" \
    "$(wc -l <"$BATS_TEST_TMPDIR/first")"
}

@test "no algorithm stands in two folders of instruction sets" {
  mkdir "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"
  echo 'sum = _mm256_add_epi32(sum, _mm256_loadu_si256(at));' >"$BATS_TEST_TMPDIR/a/planted.c"
  echo 'sum = _mm512_add_epi32(sum, _mm512_loadu_si512(at));' >"$BATS_TEST_TMPDIR/b/planted.c"
  [ "$(twins "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b")" = "1 1" ]
  for a in $(folders); do
    for b in $(folders); do
      [ "$a" != "$b" ] || continue
      read -r shared all < <(twins "$SOURCE_DIR/src/$a" "$SOURCE_DIR/src/$b")
      echo "$a: $shared of $all lines are in $b, too; expected at most a tenth"
      [ $((10 * shared)) -le "$all" ]
    done
  done
}

# Prints the includes of headers that belong to an operating system: those that C11 does not have,
# and the inner headers of system/. <threads.h> of C11 counts, because macOS lacks it. <search.h>,
# <sys/types.h> and getopt.h are on all systems; gnulib has argp.h.
of_system() { # FILE...
  local c11='assert|ctype|errno|float|inttypes|limits|locale|math|setjmp|signal|stdalign|stdarg|'
  c11+='stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|time|wchar|wctype'
  local libraries='lanebloom[a-z_]*|xxhash|isa-l/[a-z_]*|snappy-c|zstd|zstd_errors|lz4|bzlib|'
  libraries+='zlib|nettle/[a-z0-9]*|simde/[a-z0-9/]*|json-c/json|simdjson|argp|getopt'
  local cpus='immintrin|smmintrin|nmmintrin|wmmintrin|arm_neon|arm_sve|arm_acle|riscv_vector'
  local intrinsics=$cpus'|altivec|wasm_simd128'
  grep -HnE '^ *# *include <' "$@" |
    grep -vE "<($c11|$libraries|$intrinsics|search|sys/types)\.h>|<(cstring|memory|new)>" || true
  grep -HnE '^ *# *include ".*\<system/' "$@" |
    grep -vE 'system/(system|replace|cpu_x86|files|process|threads)\.h"' || true
}

@test "only src/system/ and cli/system/ include headers of the operating system" {
  printf '#include <%s>\n' stdio.h sys/mman.h unistd.h threads.h >"$BATS_TEST_TMPDIR/planted.c"
  printf '#include "%s"\n' ../../src/system/system.h ../../src/system/win32.h system/unix.h \
    >>"$BATS_TEST_TMPDIR/planted.c"
  [ "$(of_system "$BATS_TEST_TMPDIR/planted.c" | wc -l)" -eq 5 ]
  mapfile -t files < <(find "$SOURCE_DIR"/{src,cli} -name '*.[ch]' ! -path '*/system/*' \
    -o -name '*.cc')
  [ "${#files[@]}" -ge 250 ]
  found=$(of_system "${files[@]}")
  echo "$found"
  [ -z "$found" ]
}

# Prints the functions of the library that these objects call but do not define, and that
# lanebloom.h does not declare.
inner_calls() { # ARCHIVE|OBJECT...
  nm -g --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u >"$BATS_TEST_TMPDIR/own"
  nm -u "$@" | awk '/ lanebloom_/ { print $2 }' | sort -u |
    comm -23 - "$BATS_TEST_TMPDIR/own" >"$BATS_TEST_TMPDIR/called"
  grep -ohE '\<lanebloom_[a-z0-9_]+\(' "$SOURCE_DIR/include/lanebloom.h" | tr -d '(' |
    sort -u | comm -23 "$BATS_TEST_TMPDIR/called" -
}

# If a library above the engine used more of src/ than headers, it would contain a second copy of
# that code.
@test "the libraries of files take input.c and headers of src/, and call lanebloom.h" {
  for library in tables parquet; do
    taken=$(grep -oE '\.\./[a-z_/]+\.c' "$SOURCE_DIR/src/$library/CMakeLists.txt")
    [ "$taken" = ../input.c ]
    archive=$BUILD_DIR/src/$library/liblanebloom-$library.a
    [ -e "$archive" ] || continue # not built
    nm "$archive" | grep -q ' [Tt] ' || skip "objects hold no code, as with link-time optimisation"
    found=$(inner_calls "$archive")
    echo "$found"
    [ -s "$BATS_TEST_TMPDIR/called" ]
    [ -z "$found" ]
  done
}

@test "arrow/ calls lanebloom.h and lanebloom_builder_reserve() alone" {
  objects="$BUILD_DIR/CMakeFiles/lanebloom_objects.dir/src"
  nm "$objects/arrow/add.c.o" | grep -q ' [Tt] ' ||
    skip "objects hold no code, as with link-time optimisation"
  [ "$(inner_calls "$objects/format.c.o" | grep -c '^lanebloom_format_leveldb$')" -eq 1 ]
  found=$(inner_calls "$objects"/arrow/*.c.o)
  echo "$found"
  [ "$found" = lanebloom_builder_reserve ]
}

@test "kernels allocate nothing, and call kernels alone" {
  objects="$BUILD_DIR/CMakeFiles/lanebloom_objects.dir/src"
  [ -e "$objects/scalar/leveldb.c.o" ]
  nm "$objects/scalar/leveldb.c.o" | grep -q ' [Tt] ' ||
    skip "objects hold no code, as with link-time optimisation"
  echo 'void *malloc(unsigned long); void *f(void) { return malloc(8); }' |
    "$CC" -x c -c -o "$BATS_TEST_TMPDIR/planted.o" -
  [ "$(calls "$BATS_TEST_TMPDIR/planted.o")" = malloc ]
  local unoptimised= # an object that is not optimised has functions of xxHash that nobody calls
  ! nm "$objects/scalar/xxh3.c.o" | grep -q ' XXH_malloc$' || unoptimised=xxh3.c.o
  mapfile -t kernels < <(find "$objects/scalar" -name '*.c.o' ! -name kernels.c.o \
    ! -name "$unoptimised")
  found=$(calls "${kernels[@]}")
  echo "$found"
  [ -z "$found" ]
  for set in $(folders); do
    nm "$BUILD_DIR/liblanebloom.a" | grep -q " [DdRr] lanebloom_kernels_$set$" || continue
    mapfile -t kernels < <(find "$BUILD_DIR/CMakeFiles/lanebloom_$set.dir/src" -name '*.c.o')
    [ "${#kernels[@]}" -ge 2 ]
    found=$(calls "${kernels[@]}")
    echo "$found"
    [ -z "$found" ]
  done
}

# ---- The command's rooms ----

rooms="system base options input files answer output verbs" # a room may include those before it

# Prints "FILE:INCLUDE" for each include that a room of the command must not have: of a later room,
# or of a header of the libraries themselves that is not in src/common/ or src/system/. main.c may
# include any room.
climbs() { # FOLDER: the command's
  (cd "$1" && grep -E '^#include "[^"]*/' -- main.c */*.[ch] */*.cc) | awk -v rooms="$rooms" '
    BEGIN {
      n = split(rooms, names, " ")
      for (i = 1; i <= n; i++) rank[names[i]] = i
      rank["main.c:"] = n + 1
    }
    {
      split($0, parts, "/")
      room = $0 ~ /^main\.c:/ ? "main.c:" : parts[1]
      target = $0
      sub(/^[^"]*"/, "", target)
      sub(/".*/, "", target)
      if (target ~ /^\.\.\/\.\.\/src\/(common|system)\/[a-z_0-9]*\.h$/)
        next
      up = room == "main.c:" ? "" : "../"
      split(substr(target, length(up) + 1), steps, "/")
      if (index(target, up) != 1 || !(steps[1] in rank) || rank[steps[1]] > rank[room])
        print
    }'
}

# Prints the lines that choose code for an operating system or its C library.
system_conditions() { # FILE...
  local systems='linux|unix|APPLE|FreeBSD|GLIBC|MINGW[0-9]+|CYGWIN|EMSCRIPTEN|wasi'
  grep -HnE "^ *#.*\\<(_WIN(32|64)|_MSC_VER|__has_include|__($systems)_*)\\>" "$@" || true
}

@test "CMake chooses the code of an operating system: there is no #if outside system/" {
  printf ' # if defined(%s)\n' _WIN32 __APPLE__ __linux__ '__has_include(<glob.h>)' __x86_64__ \
    >"$BATS_TEST_TMPDIR/planted.c"
  [ "$(system_conditions "$BATS_TEST_TMPDIR/planted.c" | wc -l)" -eq 4 ]
  cd "$SOURCE_DIR"
  mapfile -t files < <(find cli src include -name '*.[ch]' ! -path '*/system/*' -o -name '*.cc')
  found=$(system_conditions "${files[@]}")
  echo "$found"
  [ -z "$found" ]
}

@test "the command's rooms include earlier rooms, public headers, src/common/, src/system/" {
  mkdir -p "$BATS_TEST_TMPDIR"/cli/{input,verbs}
  cd "$BATS_TEST_TMPDIR/cli"
  printf '#include "%s"\n' ../base/report.h ../verbs/verbs.h ../../src/common/memory.h fields.h \
    >input/planted.c
  printf '#include "%s"\n' ../input/fields.h ../../src/filter.h >input/planted.h
  printf '#include "%s"\n' ../answer/answer.h >input/planted.cc
  printf '#include "%s"\n' ../input/fields.h >verbs/planted.c
  printf '#include "%s"\n' verbs/verbs.h ../src/filter.h >main.c
  touch verbs/planted.{h,cc}
  [ "$(climbs . | sort)" = "input/planted.c:#include \"../verbs/verbs.h\"
input/planted.cc:#include \"../answer/answer.h\"
input/planted.h:#include \"../../src/filter.h\"
main.c:#include \"../src/filter.h\"" ]
  [ "$(cd "$SOURCE_DIR/cli" && ls -d */ | tr -d / | grep -vx docs | sort | xargs)" = \
    "$(tr ' ' '\n' <<<"$rooms" | sort | xargs)" ]
  found=$(climbs "$SOURCE_DIR/cli")
  echo "$found"
  [ -z "$found" ]
}

# Prints the lines that name one kind of answer.
kinds() { # FILE...
  grep -HnE '\<(filters|tables|parquet|exact)_answer\>|answer/(filters|tables|exact|parquet)\.h|'\
'struct (filters|tables|exact|parquet_query)\>' "$@" || true
}

# parquet_results.c prints the names of Parquet files and the numbers of their row groups.
# parquet_results.h names the query that has these.
@test "kinds of answers are known in answer/ and by their verbs alone, but for what is printed" {
  printf '%s;\n' 'a = filters_answer()' 'struct tables tables' '#include "../answer/exact.h"' \
    'struct parquet_query *query' 'struct answer answer' >"$BATS_TEST_TMPDIR/planted.c"
  [ "$(kinds "$BATS_TEST_TMPDIR/planted.c" | wc -l)" -eq 4 ]
  cd "$SOURCE_DIR/cli"
  [ -n "$(kinds answer/*.c)" ]
  found=$(kinds {base,options,input,files,output}/*.[ch] |
    grep -v '^output/parquet_results\.[ch]:' || true)
  echo "$found"
  [ -z "$found" ]
}
