#!/bin/sh
# Builds a filter of all American words, screens all French and German words against it, and
# compares the result with the exact result.
# SPDX-License-Identifier: MIT
set -eu
[ $# = 0 ] || { echo "usage: scripts/demo.sh" >&2; exit 2; }
cd "$(dirname "$0")/.."
scripts/setup.sh demo
cmake -S . -B build/demo -G Ninja -DCMAKE_BUILD_TYPE=Release -DLANEBLOOM_BUILD_TESTS=OFF >/dev/null
cmake --build build/demo >/dev/null
lanebloom=$PWD/build/demo/cli/lanebloom

american=/usr/share/dict/american-english-insane
set -- /usr/share/dict/french /usr/share/dict/ngerman
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM
export LC_ALL=C

"$lanebloom" build -o "$work/american.lbf" "$american"
echo "The filter:"
"$lanebloom" info --measure "$work/american.lbf" | sed 's/^/  /'

begin=$(date +%s%N)
"$lanebloom" screen "$work/american.lbf" "$@" >"$work/hits"
end=$(date +%s%N)

sort -u "$american" >"$work/american"
cat "$@" | sort -u >"$work/words"
sort -u "$work/hits" >"$work/distinct-hits"
comm -12 "$work/words" "$work/american" >"$work/in-both"
lost=$(comm -13 "$work/distinct-hits" "$work/in-both" | wc -l)

echo "The screening:"
awk -v records="$(cat "$@" | wc -l)" -v words="$(wc -l <"$work/words")" \
  -v hits="$(wc -l <"$work/distinct-hits")" -v in_both="$(wc -l <"$work/in-both")" \
  -v lost="$lost" -v seconds="$(((end - begin) / 1000))e-6" \
  -v model="$("$lanebloom" info "$work/american.lbf" | awk '/rate, model/ { print $(NF - 1) }')" '
  BEGIN {
    false = hits - in_both
    absent = words - in_both
    printf "  records screened         %9d   French and German\n", records
    printf "  distinct words           %9d\n", words
    printf "  may be American (hits)   %9d\n", hits
    printf "  are American (comm)      %9d\n", in_both
    printf "  lost                     %9d   a Bloom filter loses none\n", lost
    printf "  false positives          %9d   of %d absent words\n", false, absent
    printf "  rate on these words      %9.3f %%\n", 100 * false / absent
    printf "  rate by the model        %9.3f %%\n", model
    speed = records / seconds / 1e6
    printf "  million records per second %9.1f   reading, screening and writing\n", speed
  }'
[ "$lost" = 0 ]
