#!/usr/bin/env bats
# All linked and installed files have the protections of cmake/hardening.cmake.
# SPDX-License-Identifier: MIT

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# Prints the protections that a linked file lacks.
lacks() { # FILE
  local machine
  machine=$(readelf -hW "$1" | sed -n 's/^ *Machine: *//p')
  readelf -hW "$1" | grep -q 'Type: *DYN' || echo "$1: position-independent code"
  readelf -lW "$1" | grep -q GNU_RELRO || echo "$1: read-only relocations"
  readelf -dW "$1" | grep -q BIND_NOW || echo "$1: binding before main()"
  readelf -lW "$1" | grep GNU_STACK | grep -q 'RW ' || echo "$1: a stack without code"
  readelf -W --dyn-syms "$1" | grep -q '__stack_chk_fail' || echo "$1: stack protector"
  readelf -W --dyn-syms "$1" | grep -q '__.*printf_chk' || echo "$1: fortified calls"
  case $machine in
    *X86-64*) readelf -nW "$1" | grep -q SHSTK || echo "$1: shadow stack" ;;
  esac
}

# Prints the objects in archives that do not mark the targets of jumps and returns.
unmarked() { # ARCHIVE...
  readelf -nW "$@" | awk -v machine="$(uname -m)" '
    BEGIN { mark = machine == "x86_64" ? "IBT, SHSTK" : machine == "aarch64" ? "BTI, PAC" : "" }
    /^File: / { objects[object = $2] }
    index($0, mark) { marked[object] }
    END { for (object in objects) if (mark != "" && !(object in marked)) print object }'
}

@test "the command and all libraries" {
  libraries=$(find "$BUILD_DIR" -path "$BUILD_DIR/tests" -prune -o \
    -name 'liblanebloom*.so.*' -type f -print)
  [ "$(echo "$libraries" | wc -l)" -ge 3 ]
  for file in "$BUILD_DIR/cli/lanebloom" $libraries; do lacks "$file"; done >missing
  cat missing
  [ ! -s missing ]
}

@test "each of their objects" {
  find "$BUILD_DIR" -name 'liblanebloom*.a' >archives
  [ "$(xargs -n 1 ar t <archives | wc -l)" -gt 100 ]
  # shellcheck disable=SC2046 # a list
  unmarked $(cat archives) >missing
  cat missing
  [ ! -s missing ]
}

# If a build called read() by another name, tests/cli/interpose and tests/faults would miss the
# call.
@test "calls of the system have their names" {
  find "$BUILD_DIR" -name 'liblanebloom*.a' -exec readelf -sW {} + |
    awk '$7 == "UND" { print $8 }' >calls
  grep -qx read calls
  run grep -E '^__((p?(read|write)(64)?|getentropy)_chk|open(at)?(64)?_2)$' calls
  echo "$output"
  [ "$status" = 1 ]
}

@test "what has no protection is found" {
  echo 'int main(void) { return 0; }' >plain.c
  "$CC" -fcf-protection=none -c plain.c || "$CC" -c plain.c
  "$CC" -no-pie -Wl,-z,norelro,-z,lazy,-z,execstack plain.o -o plain
  lacks ./plain >missing
  cat missing
  [ "$(wc -l <missing)" -ge 6 ]
  ar r plain.a plain.o
  case $(uname -m) in
    x86_64 | aarch64) [ "$(unmarked plain.a)" = 'plain.a(plain.o)' ] ;;
  esac
}
