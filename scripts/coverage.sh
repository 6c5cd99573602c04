#!/bin/sh
# Runs all tests. Prints each line of src/ that no test reaches, and the share of lines that are
# reached. Fails if the share is less than 95 %. If the CPU of this machine cannot run all kernels
# of x86-64, their lines count as not reached. NEON's kernels are run by SIMDe, which emulates NEON.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test coverage
# Deletes the counts of earlier runs, because the counts of this run would be added to them.
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
cmake --workflow --preset coverage
gcovr --root . --filter src/ --json build/coverage/lines.json build/coverage
jq -r '.files[] | .file as $file | .lines[] | select(.count == 0 and ."gcovr/noncode" == false) |
  "\($file) \(.line_number)"' build/coverage/lines.json |
  while read -r file line; do echo "$file:$line:$(sed -n "${line}p" "$file")"; done
# --output must not name a device such as the terminal, because gcovr deletes what --output names
# before it writes.
gcovr --root . --add-tracefile build/coverage/lines.json --print-summary --fail-under-line 95 \
  --output build/coverage/lines.txt
