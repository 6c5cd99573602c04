// Builds and queries filters with DCSO's own package. Keys are lines.
//
//	dcso build KEYS RATE FILE plain|gzip [DATA]  writes the filter of all keys
//	dcso check FILE plain|gzip KEYS              prints 1 or 0 for each key
//	dcso time FILE KEYS                          prints the nanoseconds per key
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

	"github.com/DCSO/bloom"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func lines(path string) [][]byte {
	text, err := os.ReadFile(path)
	must(err)
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func build(keys [][]byte, rate string, path string, gzip bool, data []string) {
	p, err := strconv.ParseFloat(rate, 64)
	must(err)
	filter := bloom.Initialize(uint64(len(keys)), p)
	for _, key := range keys {
		filter.Add(key)
	}
	if len(data) > 0 {
		filter.Data = []byte(data[0])
	}
	must(bloom.WriteFilter(&filter, path, gzip))
}

func load(path string, gzip bool) *bloom.BloomFilter {
	filter, err := bloom.LoadFilter(path, gzip)
	must(err)
	return filter
}

func check(filter *bloom.BloomFilter, keys [][]byte) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, key := range keys {
		if filter.Check(key) {
			out.WriteString("1\n")
		} else {
			out.WriteString("0\n")
		}
	}
}

// The best of several rounds.
func measure(filter *bloom.BloomFilter, keys [][]byte) {
	best, hits := time.Duration(1<<62), 0
	for begin := time.Now(); time.Since(begin) < 2*time.Second; {
		first := time.Now()
		for _, key := range keys {
			if filter.Check(key) {
				hits++
			}
		}
		if took := time.Since(first); took < best {
			best = took
		}
	}
	fmt.Printf("%.2f\n", float64(best.Nanoseconds())/float64(len(keys)))
	if hits < 0 {
		os.Exit(1)
	}
}

func main() {
	switch arguments := os.Args[1:]; arguments[0] {
	case "build":
		build(lines(arguments[1]), arguments[2], arguments[3], arguments[4] == "gzip", arguments[5:])
	case "check":
		check(load(arguments[1], arguments[2] == "gzip"), lines(arguments[3]))
	case "time":
		measure(load(arguments[1], false), lines(arguments[2]))
	}
}
