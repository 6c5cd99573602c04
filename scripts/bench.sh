#!/bin/sh
# Measures kernels, peers and the hardware's floor: bench.sh [--full] [OPTION...], options being
# google/benchmark's. Writes results/<cpu>-<date>.json; without --full, a selection that takes two
# to three minutes. Two such files side by side:
# /usr/share/benchmark/compare.py -a benchmarks OLD NEW
# (packages libbenchmark-tools and python3-scipy).
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

# A line is a process: what is compared with each other is in one, and its filters fit into the
# program's 2 GiB. Quick leaves out leveldb-signed, which for keys of 8 bytes does what leveldb
# does, rocksdb-legacy, whose kernels are nearly rocksdb-local's, and libbloom's slow building.
quick='^floor/|^hash/(bloomhash|xxph3)/'
quick="$quick|^batch/(leveldb|rocksdb-local)/.*/KiB:256/hits:0/keys:(1|32)\$"
quick="$quick|^screen/(leveldb|rocksdb-local|libbloom)/.*/hits:(0|100)/k:6/with-hash"
quick="$quick|^build/(leveldb|rocksdb-local)/.*/KiB:(256|16384)\$"
full='^(floor|hash|many|load)/
^batch/
^threads/
^keys/leveldb.*
^keys/rocksdb.*
^screen/(leveldb.*|libbloom)/.*/k:4/
^screen/(leveldb.*|libbloom)/.*/k:6/
^screen/(leveldb.*|libbloom)/.*/k:10/
^screen/rocksdb.*/k:4/
^screen/rocksdb.*/k:6/
^screen/rocksdb.*/k:10/
^build/.*/KiB:(16|256|1024|16384)$
^build/leveldb/.*/KiB:262144$
^build/leveldb-signed/.*/KiB:262144$
^build/rocksdb-legacy/.*/KiB:262144$
^build/rocksdb-local/.*/KiB:262144$'

filters=$quick
if [ "${1:-}" = --full ]; then
  filters=$full
  shift
fi

scripts/setup.sh build bench
cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DLANEBLOOM_BUILD_TESTS=OFF \
  -DLANEBLOOM_BUILD_BENCHMARKS=ON >/dev/null
cmake --build build/bench --target lanebloom-bench >/dev/null

# Other users of a machine only ever add time, and in bursts longer than a repetition. So
# repetitions are many and short, those of all rows are shuffled, and rows are compared by their
# minimum, in CPU time. Huge pages for malloc(), too: engines get for what they build what lanebloom
# takes for its own filters.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
part=0
echo "$filters" | while read -r filter; do
  part=$((part + 1))
  build/bench/bench/lanebloom-bench \
    --benchmark_filter="$filter" --benchmark_enable_random_interleaving=true \
    --benchmark_repetitions=7 --benchmark_min_time=0.02 --benchmark_display_aggregates_only=true \
    --benchmark_context=commit="$(git describe --always --dirty 2>/dev/null || echo unknown)" \
    --benchmark_out_format=json --benchmark_out="$parts/$(printf %02d "$part").json" "$@" >&2
done

cpu=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1 | tr -cs '[:alnum:]\n' - |
  sed 's/^-*//; s/-*$//')
mkdir -p results
results=results/${cpu:-$(uname -m)}-$(date -u +%Y-%m-%dT%H%M%S).json
jq -s '.[0] + {benchmarks: map(.benchmarks) | add}' "$parts"/*.json >"$results"
echo "$results"
