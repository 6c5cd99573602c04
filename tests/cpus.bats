#!/usr/bin/env bats
# Other CPUs than this one, played by qemu-user: each gets the kernels that it can run, and they give the same answers there.
# qemu 7.2 plays AVX2 and traps AVX-512, so that models which have it count as CPUs without.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

WITHOUT_AVX2=(qemu64 Nehalem SandyBridge Opteron_G5)
INTEL=(Haswell Skylake-Server)
AMD=(EPYC EPYC-Milan)

setup() {
  [ "$(uname -m)" = x86_64 ] || skip "kernels of x86-64 need x86-64"
  [ -z "${SANITIZERS:-}" ] || skip "qemu-user cannot run a program with sanitizers"
  command -v qemu-x86_64 >/dev/null || {
    [ -z "${CI:-}" ] && [ "${REQUIRE_QEMU:-}" != 1 ] && skip "qemu-user is not installed"
    echo "qemu-user is not installed" && return 1
  }
  unset LANEBLOOM_KERNEL
  cd "$BATS_TEST_TMPDIR"
}

on() { # CPU ARGUMENT...: the command there. qemu tells of features that it lacks.
  local status=0
  qemu-x86_64 -cpu "$1" "$LANEBLOOM" "${@:2}" 2>said || status=$?
  sed '/^qemu-x86_64: warning: /d' said >&2
  return $status
}

kernels_on() { # CPU: in one line, best first
  on "$1" kernels --json | jq -r '[.active, .kernels[]] | join(" ")'
}

# qemu 7.2 takes a gather's index in register 4 for no index, as number 4 is in the addresses of other instructions. Which
# register it is in is up to the compiler.
gathers_as_a_cpu_does() { # PROGRAM: its kernel avx2
  ! objdump -d --no-show-raw-insn "$1" | grep -q 'vpgather.*,%ymm4,'
}

same_answers_on() { # CPU: the last word of a test, which it skips at the end where a kernel was left out
  local left_out=
  seq -f 'key-%08.0f' 1 3000 >keys
  seq -f 'key-%08.0f' 2000 12000 >rows
  for format in leveldb rocksdb-local; do
    "$LANEBLOOM" build --kernel scalar --format $format -o expected.filter keys
    "$LANEBLOOM" screen --kernel scalar expected.filter rows >expected
    [ "$(wc -l <expected)" -gt 1000 ]
    for kernel in $(on "$1" kernels --json | jq -r '.kernels[]'); do
      if [ "$kernel" = avx2 ] && ! gathers_as_a_cpu_does "$LANEBLOOM"; then
        left_out=avx2
        continue
      fi
      on "$1" build --kernel "$kernel" --format $format -o filter keys
      cmp filter expected.filter
      on "$1" screen --kernel "$kernel" filter rows | cmp - expected
    done
  done
  [ -z "$left_out" ] || skip "$left_out alone: qemu 7.2 takes index registers with number 4 for none"
}

@test "CPUs without AVX2 run scalar alone" {
  for cpu in "${WITHOUT_AVX2[@]}"; do
    [ "$(kernels_on $cpu)" = "scalar scalar" ]
  done
  same_answers_on Nehalem
}

@test "Intel's CPUs with AVX2 gather" {
  for cpu in "${INTEL[@]}"; do
    [ "$(kernels_on $cpu)" = "avx2 avx2 avx2-loads scalar" ]
  done
  same_answers_on Haswell
}

@test "AMD's CPUs with AVX2 and no AVX-512 load" {
  for cpu in "${AMD[@]}"; do
    [ "$(kernels_on $cpu)" = "avx2-loads avx2-loads avx2 scalar" ]
  done
  same_answers_on EPYC
}

@test "AVX2 counts only together with what the kernels use besides, and where the operating system saves its registers" {
  export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 # glibc 2.36's own AVX2 code uses BMI1 without asking for it
  for missing in avx2 bmi1 bmi2 popcnt xsave; do
    [ "$(kernels_on Haswell,-$missing)" = "scalar scalar" ]
  done
}

@test "a kernel that the CPU lacks is refused" {
  refused() { # KERNEL AVAILABLE CPU ARGUMENT...
    run -2 --separate-stderr on "${@:3}"
    [[ -z $output && $stderr == "lanebloom: "*"'$1'"*"available: $2"* ]]
  }
  LANEBLOOM_KERNEL=avx512 refused avx512 "avx2 avx2-loads scalar" Haswell kernels
  LANEBLOOM_KERNEL=avx512 refused avx512 "avx2-loads avx2 scalar" EPYC hash /dev/null
  refused avx512 "avx2 avx2-loads scalar" Skylake-Server kernels --kernel avx512
  refused avx2 scalar Nehalem kernels --kernel avx2
  refused avx2-loads scalar SandyBridge kernels --kernel avx2-loads
}

@test "kernels for AVX2 agree with scalar and use nothing else" {
  gathers_as_a_cpu_does "$STRESS" || skip "qemu 7.2 takes index registers with number 4 for none"
  LANEBLOOM_TEST_SPARE=32 run -0 qemu-x86_64 -cpu Haswell "$STRESS" 100000 1 # see tests/support.c
  [[ $output == *"ok - avx2: "*"ok - avx2-loads: "*" and scalar"* ]]
}
