#!/bin/sh
# Runs the tests and prints which lines of src/ they reach; at least 95 % is expected. The host's
# CPU has to have all of x86-64's kernels, else theirs are missing; NEON's are counted as played by
# SIMDe.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test coverage
# of earlier runs, to which this one would be added
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
cmake --workflow --preset coverage
gcovr --root . --filter src/ --fail-under-line 95 build/coverage
