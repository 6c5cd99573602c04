#!/bin/sh
# Runs all tests, prints each line of src/ that none of them reaches and how many are reached; at
# least 95 % is expected. The host's CPU has to have all of x86-64's kernels, else theirs are
# missing; NEON's are counted as played by SIMDe.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test coverage
# of earlier runs, to which this one would be added
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
cmake --workflow --preset coverage
gcovr --root . --filter src/ --json build/coverage/lines.json build/coverage
jq -r '.files[] | .file as $file | .lines[] | select(.count == 0 and ."gcovr/noncode" == false) |
  "\($file) \(.line_number)"' build/coverage/lines.json |
  while read -r file line; do echo "$file:$line:$(sed -n "${line}p" "$file")"; done
# into a file of its own: gcovr deletes what --output names before it writes, be it a device
gcovr --root . --add-tracefile build/coverage/lines.json --print-summary --fail-under-line 95 \
  --output build/coverage/lines.txt
