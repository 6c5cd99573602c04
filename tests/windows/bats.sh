#!/bin/sh
# bats.sh BATS FILE runs the tests of a file that can run under Wine, and prints TAP. Tests are
# skipped that give the command a descriptor of bash as a file, need links of Unix, or names with
# control characters: Windows has none of them.
# SPDX-License-Identifier: MIT
set -eu
bats=$1
file=$2
skipped=$(awk '
  /^@test "/ { name = $0; cannot = 0; sub(/^@test "/, "", name); sub(/" \{$/, "", name) }
  /(lanebloom|LANEBLOOM|for input) [^|]*[^<] <\(|^ *<\(|ln -s|name=.*033/ { cannot = 1 }
  /^}$/ && name != "" {
    if (cannot)
      print name
    name = ""
  }' "$file")
names=$(sed -n 's/^@test "\(.*\)" {$/\1/p' "$file" | grep -vxF -e "${skipped:-no test}" |
  sed "s/[][\\\\.*^\$()+?{}|]/\\\\&/g" | paste -sd '|')
result=0
"$bats" --tap --filter "^($names)\$" "$file" || result=$?
[ -z "$skipped" ] || printf '%s\n' "$skipped" |
  sed 's/.*/ok - & # skip it needs <(...), links or names of Unix/'
exit $result
