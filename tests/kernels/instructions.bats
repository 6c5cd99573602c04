#!/usr/bin/env bats
# Instructions that not every x86-64 CPU has may occur only in code that such a CPU never runs: in
# the kernel files of the folder that requires them. instruction_sets.txt lists the instructions
# that each folder may contain.
# SPDX-License-Identifier: MIT

setup_file() {
  export OBJECTS="$BUILD_DIR/CMakeFiles/lanebloom_objects.dir/src"
}

setup() {
  [ -e "$OBJECTS/dispatch.c.o" ]
  objdump -d "$OBJECTS/dispatch.c.o" | grep -qw 'retq\?' ||
    skip "objects hold no code, as with link-time optimisation"
}

# Prints "KIND FUNCTION: INSTRUCTION" for each instruction in these objects that the first x86-64
# CPU lacks. That CPU has nothing newer than SSE2. In 64-bit code, an instruction whose first byte
# is c4 or c5 has a VEX prefix, and 62 begins an EVEX prefix; only address prefixes may come before.
# All opcodes that begin with 0f 38 and 0f 3a are newer than SSE2. Those that have no kind of their
# own are "other".
beyond() { # OBJECT...
  objdump -d --insn-width=16 "$@" | awk -F '\t' '
    /^[0-9a-f]+ <.*>:$/ { name = substr($0, index($0, "<") + 1); sub(/>:$/, "", name) }
    NF >= 3 {
      bytes = $2
      while (bytes ~ /^(26|2e|36|3e|64|65|67) /) bytes = substr(bytes, 4)
      code = $3
      sub(/^(lock|bnd|notrack|rep[a-z]*|data16|xacquire|xrelease|rex[.A-Z]*) +/, "", code)
      kind = ""
      if (bytes ~ /^62 / || (bytes ~ /^c[45] / && code ~ /%k[0-7]|%zmm/)) kind = "evex"
      else if (bytes ~ /^c[45] /) kind = "vex"
      else if (code ~ /^popcnt/) kind = "popcnt"
      else if (code ~ /^(addsubp[ds]|haddp[ds]|hsubp[ds]|lddqu|movddup|movs[hl]dup|fisttp)/)
        kind = "sse3"
      else if (code ~ /^(pabs[bdw]|palignr|ph(add|sub)(w|d|sw)|pmaddubsw|pmulhrsw|pshufb) / ||
               code ~ /^psign[bdw] /) kind = "ssse3"
      else if (code ~ /^(crc32|pcmp[ei]str|pcmpgtq)/) kind = "sse42"
      else if (code ~ /^(blendv?p[ds]|dpp[ds]|extractps|insertps|movntdqa|mpsadbw|packusdw) / ||
               code ~ /^(pblend(vb|w)|pcmpeqq|phminposuw|pextr[bdq]|pinsr[bdq]|ptest) / ||
               code ~ /^(p(max|min)(s[bd]|u[dw])|pmov[sz]x[bdqw]*|pmuldq|pmulld|round[ps][ds]) / ||
               (code ~ /^pextrw / && bytes ~ / 0f 3a /)) kind = "sse41"
      else if (bytes ~ /^((66|f2|f3) )*(4[0-9a-f] )?0f 3[8a] / ||
               code ~ /^(lzcnt|extrq|insertq|movnts[ds])/) kind = "other"
      if (kind != "") print kind " " name ": " $3
    }'
}

# Fails unless all these instructions are of the given kinds. Prints the others.
only() { # KIND,...|- OBJECT...
  local kinds=$1 found
  shift
  [ -e "$1" ]
  found=$(beyond "$@" | grep -vE "^(${kinds//,/|}) " | head -n 20) || true
  echo "$found"
  [ -z "$found" ]
}

# Prints how many instructions are of this kind.
count() { # KIND OBJECT...
  local kind=$1
  shift
  beyond "$@" | grep -c "^$kind " || true
}

compiled() { # NAME SOURCE OPTION...: prints the object's path
  local name=$1 text=$2
  shift 2
  echo "$text" | "$CC" -O2 "$@" -x c -c -o "$BATS_TEST_TMPDIR/$name.o" -
  echo "$BATS_TEST_TMPDIR/$name.o"
}

folder_of() { # SET: prints the folder with the objects of its kernel files
  [ "$1" = scalar ] && echo "$OBJECTS/scalar" || echo "$BUILD_DIR/CMakeFiles/lanebloom_$1.dir/src"
}

sets() { # prints the table's rows that this build has: NAME HOLDS
  while read -r name _ holds _; do
    [ ! -d "$(folder_of "$name")" ] || echo "$name $holds"
  done < <(grep -v '^#' "$SOURCE_DIR/tests/kernels/instruction_sets.txt")
}

# Prints the objects in a folder, without those whose sources are gone, which a build folder keeps.
objects_of() { # FOLDER TEST...: tests that find applies
  find "$@" -name '*.c.o' | while read -r object; do
    source=${object##*.dir/src/}
    [ ! -e "$SOURCE_DIR/src/${source%.o}" ] || echo "$object"
  done
}

kernel_files() { # FOLDER: prints the objects of its kernel files
  objects_of "$1" ! -name kernels.c.o
}

@test "the search finds what it should" {
  sum='float f(const float *a) {
      float s[16] = {0};
      for (int i = 0; i < 1600; i++) s[i % 16] += a[i];
      return s[3] + s[9];
    }'
  twice='void g(int *restrict a) { for (int i = 0; i < 1024; i++) a[i] += a[i] * a[i]; }'
  # EVEX instructions, and kmov, which has a VEX prefix
  masked='#include <immintrin.h>
    unsigned m(__m256i a, __m256i b) { return _mm256_cmpeq_epi32_mask(a, b); }'
  bits='unsigned long h(unsigned long a, unsigned long b) { return ~a & b; }
    unsigned long s(unsigned long a, int n) { return a << n; }'
  count='int p(unsigned long a) { return __builtin_popcountl(a); }'
  zeros='int z(unsigned long a) { return __builtin_ctzl(a); }'
  by_sse='#include <immintrin.h>
    __m128 sse3(__m128 a) { return _mm_hadd_ps(a, a); }
    __m128i ssse3(__m128i a) { return _mm_shuffle_epi8(a, a); }
    __m128i sse41(__m128i a) { return _mm_mullo_epi32(a, a); }
    int sse41_word(__m128i a, short *to) {
      return *to = (short)_mm_extract_epi16(a, 3), _mm_testz_si128(a, a);
    }
    __m128i sse42(__m128i a, __m128i b) { return _mm_cmpgt_epi64(a, b); }
    unsigned checksum(unsigned a) { return _mm_crc32_u8(a, 7); }
    __m128i other(__m128i a) { return _mm_aesenc_si128(a, a); }
    int other_order(const int *a) { return __builtin_bswap32(*a); }'

  only - "$(compiled sum "$sum")" "$(compiled twice "$twice")" \
    "$(compiled zeros "$zeros" -O3)" "$(compiled plain "$bits $count")"
  [ "$(count vex "$(compiled twice "$twice" -O3 -mavx2)")" -gt 0 ]
  [ "$(count evex "$(compiled twice "$twice" -O3 -mavx2)")" -eq 0 ]
  [ "$(count evex \
    "$(compiled twice "$twice" -O3 -mavx512f -mavx512vl -mprefer-vector-width=512)")" -gt 0 ]
  [ "$(count evex "$(compiled masked "$masked" -mavx512f -mavx512vl)")" -eq 2 ]
  [ "$(count vex "$(compiled bits "$bits" -mbmi -mbmi2)")" -ge 2 ]
  [ "$(count popcnt "$(compiled count "$count" -mpopcnt)")" -eq 1 ]
  compiled sse "$by_sse" -msse4.2 -maes -mmovbe
  for row in sse3:1 ssse3:1 sse41:3 sse42:2 other:2; do
    [ "$(count "${row%:*}" "$BATS_TEST_TMPDIR/sse.o")" -eq "${row#*:}" ]
  done
  run only popcnt "$(compiled bits "$bits" -mbmi)"
  [ "$status" != 0 ]
  run only sse3,ssse3,sse42,other "$BATS_TEST_TMPDIR/sse.o"
  [ "$status" != 0 ]
}

@test "every folder of kernels has a row" {
  for folder in "$SOURCE_DIR"/src/*/kernels.c; do
    folder=$(basename "$(dirname "$folder")")
    [ "$(grep -c "^$folder " "$SOURCE_DIR/tests/kernels/instruction_sets.txt")" -eq 1 ]
  done
}

@test "none outside kernel files" {
  mapfile -t rest < <(objects_of "$OBJECTS")
  [ "${#rest[@]}" -ge 15 ]
  only - "${rest[@]}"
}

@test "a folder's kernels hold what it asks the CPU for, and no more" {
  while read -r name holds; do
    mapfile -t kernels < <(kernel_files "$(folder_of "$name")")
    only "$holds" "${kernels[@]}"
    [ "$holds" = - ] || [ "$(beyond "${kernels[@]}" | wc -l)" -gt 0 ] || {
      echo "src/$name: expected instructions of $holds, found none" && return 1
    }
  done < <(sets)
}

@test "what is linked has no more of them than its kernels" {
  mapfile -t kernels < <(while read -r name _; do
    kernel_files "$(folder_of "$name")"
  done < <(sets))
  beyond "${kernels[@]}" | cut -d ' ' -f 1 | sort | uniq -c >"$BATS_TEST_TMPDIR/kernels"
  for library in liblanebloom.a liblanebloom.so; do
    beyond "$BUILD_DIR/$library" | cut -d ' ' -f 1 | sort | uniq -c |
      diff "$BATS_TEST_TMPDIR/kernels" -
  done
}

@test "the library for database files holds only the instructions for checksums" {
  folder=$BUILD_DIR/src/tables/CMakeFiles/lanebloom_tables_objects.dir
  [ -e "$folder" ] || skip "this build has no such library"
  mapfile -t rest < <(find "$folder" -name '*.c.o' ! -name crc32c_x86.c.o)
  [ "${#rest[@]}" -ge 15 ]
  only - "${rest[@]}"
  only sse41,sse42,other "$folder/crc32c_x86.c.o"
  [ "$(count sse42 "$folder/crc32c_x86.c.o")" -gt 0 ]
}
