#!/usr/bin/env bats
# Other CPUs, emulated by qemu-user: each CPU gets the kernels that it can run, and these give the
# same answers there. instruction_sets.txt lists the kernels.
# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0

TABLE="$SOURCE_DIR/tests/kernels/instruction_sets.txt"

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

# on CPU ARGUMENT...: runs the command on this CPU, which does not reveal the emulator. Leaves out
# qemu's warnings about missing features.
on() {
  local status=0
  qemu-x86_64 -cpu "$1,tcg-cpuid=off" "$LANEBLOOM" "${@:2}" 2>said || status=$?
  sed '/^qemu-x86_64: warning: /d' said >&2
  return $status
}

kernels_on() { # CPU: prints the active kernel, then all kernels, the best first
  on "$1" kernels --json | jq -r '[.active, .kernels[]] | join(" ")'
}

sets_on() { # CPU: prints the instruction sets of its kernels, the one in use first
  on "$1" kernels --json | jq -r '.active, .kernels[]' | sed 's/-.*//' | uniq | paste -sd ' '
}

# Prints the rows of the table that qemu can run, the best first: NAME NEEDS FIRST-CPU ALL-CPUS.
rows() {
  awk '!/^#/ && $4 != "-" { first = $4; sub(/,.*/, "", first); print $1, $2, first, $4 }' "$TABLE"
}

# Prints the sets that this CPU should have: those of its own row and of the rows below.
expected_on() { # CPU [MISSING-FEATURE]
  rows | awk -v cpu=",$1," -v missing=",${2:-none}," '
    index("," $4 ",", cpu) { has = 1 }
    has && !index("," $2 ",", missing) { print $1 }' | paste -sd ' '
}

# Succeeds if no gather has its index in register 4, because qemu 7.2 would ignore that index. In
# the addresses of other instructions, number 4 means "no index". The compiler chooses the register.
gathers_as_a_cpu_does() { # PROGRAM: checks its kernel avx2
  ! objdump -d --no-show-raw-insn "$1" | grep -q 'vpgather.*,%ymm4,'
}

@test "each CPU gets the instruction sets that it has, the best first" {
  while read -r name _ _ cpus; do
    for cpu in ${cpus//,/ }; do
      expected=$(expected_on "$cpu")
      [[ $expected == "$name"* ]] || {
        echo "$cpu stands in the rows of $name and of ${expected%% *}" && return 1
      }
      found=$(sets_on "$cpu")
      [ "$found" = "$expected" ] || {
        echo "$cpu: expected $expected, found $found" && return 1
      }
    done
  done < <(rows)
}

@test "an instruction set counts only with all that it needs, the operating system's part too" {
  # glibc 2.36 uses BMI1 in its AVX2 code, and SSSE3 in its SSE4.2 code, without checking for them.
  export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-SSE4_2
  while read -r _ needs cpu _; do
    [ "$needs" = - ] && continue
    for missing in ${needs//,/ }; do
      [ "$(sets_on "$cpu,-$missing")" = "$(expected_on "$cpu" "$missing")" ]
    done
  done < <(rows)
}

@test "CPUs whose gathers are not known to be fast load" {
  for cpu in Haswell Skylake-Server EPYC; do
    [[ $(kernels_on $cpu) == "avx2-loads avx2-loads avx2 "* ]]
  done
}

@test "an emulated CPU is told from a real one, and runs scalar by default" {
  emulated() { # CPU ARGUMENT...
    qemu-x86_64 -cpu "$1" "$LANEBLOOM" "${@:2}" 2>/dev/null
  }
  while read -r _ _ cpu _; do
    emulated "$cpu" kernels --json >kernels
    [[ $(jq -r '.active, .kernels[0]' kernels | uniq) == scalar &&
      $(jq -r .reason kernels) == "QEMU emulates this CPU"* ]]
    [ "$(jq -r '.kernels | sort | join(" ")' kernels)" = \
      "$(on "$cpu" kernels --json | jq -r '.kernels | sort | join(" ")')" ]
  done < <(rows)
  [[ $(emulated Haswell kernels) == *"* scalar (QEMU emulates this CPU"* ]]
  [ "$(emulated Haswell kernels --kernel avx2 --json | jq -r .active)" = avx2 ]
  [ "$(LANEBLOOM_KERNEL=avx2 emulated Haswell kernels --json | jq -r .active)" = avx2 ]
  # Without the hypervisor bit, CPUID's leaf for hypervisors may hold anything.
  [ "$(emulated Haswell,-hypervisor kernels --json | jq -r .active)" = avx2-loads ]
}

@test "a kernel that the CPU lacks is refused" {
  refused() { # KERNEL CPU ARGUMENT...
    local available
    available=$(on "$2" kernels --json | jq -r '.kernels | join(" ")')
    LANEBLOOM_KERNEL=$from_environment run -2 --separate-stderr on "${@:2}"
    [[ -z $output && $stderr == "lanebloom: "*"'$1'"*"available: $available"* ]]
  }
  from_environment=avx512
  refused avx512 Haswell kernels
  refused avx512 EPYC hash /dev/null
  from_environment=
  refused avx512 Skylake-Server kernels --kernel avx512
  better=
  while read -r name _ cpu _; do
    [ -z "$better" ] || refused "$better" "$cpu" kernels --kernel "$better"
    better=$name
  done < <(rows)
  refused avx2-loads Nehalem kernels --kernel avx2-loads
}

@test "the kernels of each instruction set give scalar's answers on a CPU that has no better" {
  left_out=
  seq -f 'key-%08.0f' 1 3000 >keys
  seq -f 'key-%08.0f' 2000 12000 >rows
  for format in leveldb rocksdb-local; do
    "$LANEBLOOM" build --kernel scalar --format $format -o expected.filter keys
    "$LANEBLOOM" screen --kernel scalar expected.filter rows >expected
    [ "$(wc -l <expected)" -gt 1000 ]
    while read -r name _ cpu _; do
      for kernel in $(on "$cpu" kernels --json | jq -r '.kernels[]' | grep "^$name"); do
        if [ "$kernel" = avx2 ] && ! gathers_as_a_cpu_does "$LANEBLOOM"; then
          left_out=avx2
          continue
        fi
        on "$cpu" build --kernel "$kernel" --format $format -o filter keys
        cmp filter expected.filter
        on "$cpu" screen --kernel "$kernel" filter rows | cmp - expected
      done
    done < <(rows)
  done
  [ -z "$left_out" ] ||
    skip "$left_out alone: qemu 7.2 takes index registers with number 4 for none"
}

@test "the kernels of each instruction set agree with scalar and use nothing else" {
  gathers_as_a_cpu_does "$STRESS" || skip "qemu 7.2 takes index registers with number 4 for none"
  first=1 # tries no more filters than this many pairs need
  [ "${LANEBLOOM_EXHAUSTIVE:-}" != 1 ] || first=
  while read -r name _ cpu _; do
    [ "$name" = scalar ] && continue
    # see tests/support/support.c
    LANEBLOOM_TEST_SPARE=32 run -0 qemu-x86_64 -cpu "$cpu" "$STRESS" 100000 1 $first
    [[ $output == *"ok - $name: "*" and scalar"* ]]
  done < <(rows)
}
