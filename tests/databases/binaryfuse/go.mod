module lanebloom/tests/databases/binaryfuse

go 1.25

require github.com/cockroachdb/pebble v0.0.0-20260519233807-f82e3ff74d10
