#!/usr/bin/env bats
# Instructions that not every x86-64 CPU has are where such a CPU never comes: in the kernel files of src/avx2 and src/avx512.
# SPDX-License-Identifier: MIT

setup_file() {
  export STATIC="$BUILD_DIR/CMakeFiles/lanebloom_static.dir/src" SHARED="$BUILD_DIR/CMakeFiles/lanebloom_shared.dir/src"
}

setup() {
  [ -e "$STATIC/dispatch.c.o" ]
  [ -d "$STATIC/avx2" ] || skip "this build has no kernels for x86-64"
  objdump -d "$STATIC/dispatch.c.o" | grep -qw 'retq\?' || skip "objects hold no code, as with link-time optimisation"
}

# "KIND FUNCTION: INSTRUCTION" for each in these objects that is beyond the first x86-64. In 64-bit code a first byte of c4 or c5
# is VEX and 62 is EVEX, whatever the instruction; only addresses' prefixes may stand before them.
beyond() { # OBJECT...
  objdump -d --insn-width=16 "$@" | awk -F '\t' '
    /^[0-9a-f]+ <.*>:$/ { name = substr($0, index($0, "<") + 1); sub(/>:$/, "", name) }
    NF >= 3 {
      bytes = $2
      while (bytes ~ /^(26|2e|36|3e|64|65|67) /) bytes = substr(bytes, 4)
      kind = ""
      if (bytes ~ /^62 / || (bytes ~ /^c[45] / && $3 ~ /%k[0-7]|%zmm/)) kind = "avx512"
      else if (bytes ~ /^c[45] /) kind = "avx2"
      else if ($3 ~ /^(xacquire |xrelease )?popcnt/) kind = "popcnt"
      if (kind != "") print kind " " name ": " $3
    }'
}

# No such instruction, or else they are shown.
none() { # WORDS-OF-KINDS OBJECT...
  local kinds=$1 found
  shift
  [ -e "$1" ]
  found=$(beyond "$@" | grep -E "^($kinds) " | head -n 20) || true
  echo "$found"
  [ -z "$found" ]
}

# How many instructions of a kind there are.
count() { # KIND OBJECT...
  local kind=$1
  shift
  beyond "$@" | grep -c "^$kind " || true
}

compiled() { # NAME SOURCE OPTION...: the object's path
  local name=$1 text=$2
  shift 2
  echo "$text" | "$CC" -O2 "$@" -x c -c -o "$BATS_TEST_TMPDIR/$name.o" -
  echo "$BATS_TEST_TMPDIR/$name.o"
}

kernel_files() { # FOLDER: of objects
  find "$1" -name '*.c.o' ! -name kernels.c.o
}

@test "the search finds what it should" {
  sum='float f(const float *a) { float s[16] = {0}; for (int i = 0; i < 1600; i++) s[i % 16] += a[i]; return s[3] + s[9]; }'
  twice='void g(int *restrict a) { for (int i = 0; i < 1024; i++) a[i] += a[i] * a[i]; }'
  masked='#include <immintrin.h>
    unsigned m(__m256i a, __m256i b) { return _mm256_cmpeq_epi32_mask(a, b); }' # EVEX and, coded as VEX, kmov
  bits='unsigned long h(unsigned long a, unsigned long b) { return ~a & b; }
    unsigned long s(unsigned long a, int n) { return a << n; }'
  count='int p(unsigned long a) { return __builtin_popcountl(a); }'
  zeros='int z(unsigned long a) { return __builtin_ctzl(a); }'

  none 'avx2|avx512|popcnt' "$(compiled sum "$sum")" "$(compiled twice "$twice")" "$(compiled zeros "$zeros" -O3)" \
    "$(compiled plain "$bits $count")"
  [ "$(count avx2 "$(compiled twice "$twice" -O3 -mavx2)")" -gt 0 ]
  [ "$(count avx512 "$(compiled twice "$twice" -O3 -mavx2)")" -eq 0 ]
  [ "$(count avx512 "$(compiled twice "$twice" -O3 -mavx512f -mavx512vl -mprefer-vector-width=512)")" -gt 0 ]
  [ "$(count avx512 "$(compiled masked "$masked" -mavx512f -mavx512vl)")" -eq 2 ]
  [ "$(count avx2 "$(compiled bits "$bits" -mbmi -mbmi2)")" -ge 2 ]
  [ "$(count popcnt "$(compiled count "$count" -mpopcnt)")" -eq 1 ]
  run none avx2 "$(compiled bits "$bits" -mbmi)"
  [ "$status" != 0 ]
}

@test "none outside the folders of instruction sets, and none in what asks the CPU" {
  for objects in "$STATIC" "$SHARED"; do
    mapfile -t rest < <(find "$objects" -name '*.c.o' ! -path "$objects/avx2/*" ! -path "$objects/avx512/*")
    [ "${#rest[@]}" -ge 15 ]
    none 'avx2|avx512|popcnt' "${rest[@]}"
    none 'avx2|avx512|popcnt' "$objects/avx2/kernels.c.o" "$objects/avx512/kernels.c.o"
  done
}

@test "no AVX-512 in the kernels of avx2" {
  for objects in "$STATIC" "$SHARED"; do
    mapfile -t kernels < <(kernel_files "$objects/avx2")
    [ "${#kernels[@]}" -ge 5 ]
    none avx512 "${kernels[@]}"
  done
}

@test "what is linked has no more of them than its kernels" {
  for kind in avx2 avx512 popcnt; do
    mapfile -t kernels < <(kernel_files "$STATIC/avx2"; kernel_files "$STATIC/avx512")
    [ "$(count $kind "$BUILD_DIR/liblanebloom.a")" -eq "$(count $kind "${kernels[@]}")" ]
    mapfile -t kernels < <(kernel_files "$SHARED/avx2"; kernel_files "$SHARED/avx512")
    [ "$(count $kind "$BUILD_DIR/liblanebloom.so")" -eq "$(count $kind "${kernels[@]}")" ]
  done
}
