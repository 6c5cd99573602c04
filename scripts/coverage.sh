#!/bin/sh
# Runs all tests, and prints each line of src/ that none of them reaches and the share that is
# reached; at least 95 % is expected. If the host's CPU cannot run all kernels of x86-64, their
# lines are missing. NEON's kernels are counted as emulated by SIMDe.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test coverage
# counts of earlier runs, to which this one would be added
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
cmake --workflow --preset coverage
gcovr --root . --filter src/ --json build/coverage/lines.json build/coverage
jq -r '.files[] | .file as $file | .lines[] | select(.count == 0 and ."gcovr/noncode" == false) |
  "\($file) \(.line_number)"' build/coverage/lines.json |
  while read -r file line; do echo "$file:$line:$(sed -n "${line}p" "$file")"; done
# The output is a separate file, because gcovr deletes what --output names before it writes, even a
# device.
gcovr --root . --add-tracefile build/coverage/lines.json --print-summary --fail-under-line 95 \
  --output build/coverage/lines.txt
