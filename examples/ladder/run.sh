#!/bin/sh
# Compiles the steps of the ladder, runs those that this CPU has instructions for, and prints tables
# in Markdown: nanoseconds of CPU time per key, the best of so many rounds.
# SPDX-License-Identifier: MIT
set -eu
case ${1-0}${2-0} in
  *[!0-9]*) echo "usage: run.sh [ROUNDS [KIB]], filters up to KIB" >&2; exit 2 ;;
esac
cd "$(dirname "$0")"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM

for step in [0-9]*.c; do
  case $(uname -m):$step in
    x86_64:*-avx2-*) flags=-mavx2 ;;
    aarch64:*-neon-*) flags= ;;
    *-avx2-* | *-neon-*) continue ;;
    *) flags= ;;
  esac
  # shellcheck disable=SC2086 # none, or words
  $cc -O2 $flags -o "$work/step" "$step"
  "$work/step" "$@" >"$work/said" || { cat "$work/said" >&2; exit 1; }
  cat "$work/said" >>"$work/all"
done

echo "CPU: $(lscpu |
  sed -n 's/^Model name: *//p; s/^CPU family: */family /p; s/^Model: */model /p' |
  paste -s -d , | sed 's/,/, /g')"
echo "Compiler: $($cc --version | head -n 1)"
echo "Command: examples/ladder/run.sh $*"
# A step says "# SIZE UNIT: absent N, half N, present N ns per key" for each size, then its name.
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
