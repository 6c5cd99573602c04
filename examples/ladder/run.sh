#!/bin/sh
# run.sh [ROUNDS [KIB]] compiles the steps of the ladder, runs the steps for which this CPU has
# instructions, and prints tables in Markdown. For filters of up to KIB KiB, the tables show
# nanoseconds of CPU time per key, the best of ROUNDS rounds. Progress is reported on standard
# error.
# SPDX-License-Identifier: MIT
set -eu

refuse() { # TEXT
  echo "run.sh: $1" >&2
  echo "usage: run.sh [ROUNDS [KIB]], by default 20 rounds and filters of 16 KiB to 64 MiB" >&2
  exit 2
}
[ $# -le 2 ] || refuse "expected at most two arguments, found $#"
for argument; do
  case $argument in
    '' | *[!0-9]*) refuse "expected a number, found '$argument'" ;;
  esac
done
[ "${1-20}" -ge 1 ] || refuse "ROUNDS is at least 1, found $1"
[ "${2-16}" -ge 16 ] || refuse "KIB is at least 16, the smallest filter of the ladder, found $2"

cd "$(dirname "$0")"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM

for step in [0-9]*.c; do
  case $(uname -m):$step in
    x86_64:*-avx2-*) flags=-mavx2 ;;
    aarch64:*-neon-*) flags= ;;
    *-avx2-* | *-neon-*)
      echo "$step is left out: it is for another CPU than $(uname -m)" >&2
      continue
      ;;
    *) flags= ;;
  esac
  echo "$step is compiled by $cc, and runs ${1-20} rounds for each filter" >&2
  # shellcheck disable=SC2086 # $flags is several words, or nothing
  $cc -O2 $flags -o "$work/step" "$step"
  "$work/step" "$@" >"$work/said" || { cat "$work/said" >&2; exit 1; }
  cat "$work/said" >>"$work/all"
done

echo "CPU: $(lscpu |
  sed -n 's/^Model name: *//p; s/^CPU family: */family /p; s/^Model: */model /p' |
  paste -s -d , | sed 's/,/, /g')"
echo "Compiler: $($cc --version | head -n 1)"
echo "Command: examples/ladder/run.sh $*"
# A step prints a line "# SIZE UNIT: absent N, half N, present N ns per key" for each size, and then
# a line with its name.
awk '
  /^# .*: absent/ {
    size = $2 " " $3; sub(/:/, "", size)
    row[size] = $5 " | " $7 " | " $9; gsub(/,/, "", row[size])
    if (!(size in known)) { known[size]; sizes[++nsizes] = size }
  }
  /^# hashing:/ { hashing = $3 }
  /^ok - / {
    name = $0; sub(/^ok - step /, "", name); sub(/: [0-9]+ answers equal$/, "", name)
    for (size in row) table[size] = table[size] "| " name " | " row[size] " |\n"
    if (hashing != "") hashes = hashes "| " name " | " hashing " |\n"
    split("", row); hashing = ""
  }
  END {
    for (i = 1; i <= nsizes; i++)
      printf "\n%s:\n\n| step | absent | half | present |\n|---|---|---|---|\n%s",
        sizes[i], table[sizes[i]]
    if (hashes != "") printf "\nHashing:\n\n| step | ns per key |\n|---|---|\n%s", hashes
  }' "$work/all"
