#!/usr/bin/env bats
# Kernels are the lowest layer: they know lanes/, the seam and scalar, and allocate nothing.
# SPDX-License-Identifier: MIT

folders() { # of instruction sets, without scalar
  awk '!/^#/ && $1 != "scalar" { print $1 }' "$SOURCE_DIR/tests/instruction_sets.txt"
}

# "FILE:LINE" of each include that leaves a folder for something kernels must not know.
strangers() { # FILE...
  grep -HE '^#include ".*/' "$@" |
    grep -vE '"\.\./((lanes|scalar|layouts)/[a-z0-9_]*|kernels|batch|keys|bytes|divide)\.h"$' || true
}

# What these objects call that is not a kernel, what batch.h promises them, constant data, or memory
# that is there already. The compilers' own functions check or count.
calls() { # OBJECT...
  local own='^lanebloom_([a-z0-9_]*_(hash|probe|add)_[a-z0-9_]*|keys_part|hash_gathered)$'
  local data='^lanebloom_xxph3_secret$'
  local memory='^(mem(cpy|move|set|cmp)|__mem[a-z]*_chk|__assert_fail|_GLOBAL_OFFSET_TABLE_)$'
  local compilers='^__(stack_chk|asan|ubsan|tsan|sanitizer|gcov|llvm)_'
  nm -u "$@" | awk '$1 == "U" { print $2 }' | grep -vE "$own|$data|$memory|$compilers" || true
}

@test "kernels include lanes/, the seam and scalar/ alone" {
  printf '#include "%s"\n' ../lanes/partitions.h ../format.h isa.h >"$BATS_TEST_TMPDIR/planted.c"
  [ "$(strangers "$BATS_TEST_TMPDIR/planted.c")" = \
    "$BATS_TEST_TMPDIR/planted.c:#include \"../format.h\"" ]
  for folder in lanes scalar $(folders); do
    [ -d "$SOURCE_DIR/src/$folder" ]
    found=$(strangers "$SOURCE_DIR/src/$folder"/*.[ch])
    echo "$found"
    [ -z "$found" ]
  done
}

# A library above the engine that took more of src/ than headers would have a copy of it.
@test "the libraries of files take input.c and headers of src/, and call lanebloom.h" {
  for library in tables parquet; do
    taken=$(grep -oE '\.\./[a-z_]+\.c' "$SOURCE_DIR/src/$library/CMakeLists.txt")
    [ "$taken" = ../input.c ]
    archive=$BUILD_DIR/src/$library/liblanebloom-$library.a
    [ -e "$archive" ] || continue # not built
    nm "$archive" | grep -q ' [Tt] ' || skip "objects hold no code, as with link-time optimisation"
    nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort -u >"$BATS_TEST_TMPDIR/own"
    nm -u "$archive" | awk '/ lanebloom_/ { print $2 }' | sort -u |
      comm -23 - "$BATS_TEST_TMPDIR/own" >"$BATS_TEST_TMPDIR/called"
    grep -ohE '\<lanebloom_[a-z0-9_]+\(' "$SOURCE_DIR/include/lanebloom.h" | tr -d '(' |
      sort -u | comm -23 "$BATS_TEST_TMPDIR/called" - >"$BATS_TEST_TMPDIR/others"
    cat "$BATS_TEST_TMPDIR/others"
    [ -s "$BATS_TEST_TMPDIR/called" ]
    [ ! -s "$BATS_TEST_TMPDIR/others" ]
  done
}

@test "kernels allocate nothing, and call kernels alone" {
  objects="$BUILD_DIR/CMakeFiles/lanebloom_objects.dir/src"
  [ -e "$objects/scalar/leveldb.c.o" ]
  nm "$objects/scalar/leveldb.c.o" | grep -q ' [Tt] ' ||
    skip "objects hold no code, as with link-time optimisation"
  echo 'void *malloc(unsigned long); void *f(void) { return malloc(8); }' |
    "$CC" -x c -c -o "$BATS_TEST_TMPDIR/planted.o" -
  [ "$(calls "$BATS_TEST_TMPDIR/planted.o")" = malloc ]
  nsets=0
  for folder in "$objects/scalar" "$BUILD_DIR"/CMakeFiles/lanebloom_*.dir/src/lanes; do
    [ -d "$folder" ] || continue
    mapfile -t kernels < <(find "${folder%/lanes}" -name '*.c.o' ! -name kernels.c.o)
    found=$(calls "${kernels[@]}")
    echo "$found"
    [ -z "$found" ]
    nsets=$((nsets + 1))
  done
  [ "$nsets" -ge 1 ]
}
