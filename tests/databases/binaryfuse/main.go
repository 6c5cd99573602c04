// Makes and queries binary fuse filters with the real Pebble. KEYS has a key on each line.
//
//	test_binaryfuse build BITS KEYS FILTER   writes the filter that the policy of BITS bits makes
//	test_binaryfuse ask FILTER KEYS          prints the keys that may be in the filter
//	test_binaryfuse time FILTER KEYS         prints the time that a query of a key takes, in ns
//
// SPDX-License-Identifier: MIT
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/sstable/tablefilters/binaryfuse"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "test_binaryfuse:", err)
		os.Exit(2)
	}
}

func read(path string) []byte {
	data, err := os.ReadFile(path)
	check(err)
	return data
}

func lines(path string) [][]byte {
	data := read(path)
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func build(bits, keys, path string) {
	n, err := strconv.Atoi(bits)
	check(err)
	writer := binaryfuse.FilterPolicy(n).NewWriter()
	for _, key := range lines(keys) {
		writer.AddKey(key)
	}
	data, _, ok := writer.Finish()
	if !ok {
		check(fmt.Errorf("%s: Pebble makes no filter of these keys", keys))
	}
	check(os.WriteFile(path, data, 0o666))
}

func ask(path, keys string) {
	filter := read(path)
	out := bufio.NewWriter(os.Stdout)
	for _, key := range lines(keys) {
		if binaryfuse.Decoder.MayContain(filter, key) {
			out.Write(key)
			out.WriteByte('\n')
		}
	}
	check(out.Flush())
}

// Prints the shortest of several times, and the number of keys that passed.
func measure(path, keys string) {
	filter, all := read(path), lines(keys)
	best, hits := 0.0, 0
	for round := 0; round < 10; round++ {
		hits = 0
		start := time.Now()
		for _, key := range all {
			if binaryfuse.Decoder.MayContain(filter, key) {
				hits++
			}
		}
		taken := float64(time.Since(start).Nanoseconds()) / float64(len(all))
		if round == 0 || taken < best {
			best = taken
		}
	}
	fmt.Printf("%.2f ns, %d of %d keys passed\n", best, hits, len(all))
}

func main() {
	switch {
	case len(os.Args) == 5 && os.Args[1] == "build":
		build(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 4 && os.Args[1] == "ask":
		ask(os.Args[2], os.Args[3])
	case len(os.Args) == 4 && os.Args[1] == "time":
		measure(os.Args[2], os.Args[3])
	default:
		check(fmt.Errorf("expected build, ask or time, and its arguments"))
	}
}
