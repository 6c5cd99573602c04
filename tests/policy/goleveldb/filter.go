// Package goleveldb is a filter for goleveldb that uses lanebloom's builder. The filter has the
// name of goleveldb's own filter and makes the same bytes, so databases open with either.
// SPDX-License-Identifier: MIT
package goleveldb

// #cgo pkg-config: lanebloom
// #include <lanebloom.h>
//
// // The batch is made in C: cgo refuses Go memory that holds pointers to Go memory.
// static lanebloom_status build(double bits_per_key, const void *data, const uint64_t *offsets,
//                               size_t n, void *bytes, size_t room, size_t *size)
// {
//   const lanebloom_keys keys = lanebloom_keys_offsets64(data, offsets, n);
//   return lanebloom_filter_build_raw(LANEBLOOM_LEVELDB, bits_per_key, &keys, bytes, room,
//                                     size);
// }
import "C"

import (
	"unsafe"

	"github.com/syndtr/goleveldb/leveldb/filter"
)

// Bloom is the number of bits per key, 0 or more. goleveldb rounds 0.69 times this number down to
// the number of probes, as LevelDB does.
type Bloom int

func (Bloom) Name() string {
	return "leveldb.BuiltinBloomFilter"
}

func (Bloom) Contains(bytes, key []byte) bool {
	return bool(C.lanebloom_filter_may_contain_raw(C.LANEBLOOM_LEVELDB, address(bytes),
		C.size_t(len(bytes)), address(key), C.size_t(len(key))))
}

func (bits Bloom) NewGenerator() filter.FilterGenerator {
	return &generator{bits: float64(bits), offsets: []uint64{0}}
}

// A generator collects keys, so that one call into C makes a filter.
type generator struct {
	bits    float64
	keys    []byte
	offsets []uint64
}

func (g *generator) Add(key []byte) {
	g.keys = append(g.keys, key...)
	g.offsets = append(g.offsets, uint64(len(g.keys)))
}

// Generate cannot report an error. After an error it writes 2 bytes, with which every reader lets
// every key pass.
func (g *generator) Generate(to filter.Buffer) {
	n := uint64(len(g.offsets) - 1)
	var size C.uint64_t
	var nprobes C.uint32_t
	status := C.lanebloom_plan_size(C.LANEBLOOM_LEVELDB, C.double(g.bits), C.uint64_t(n), &size,
		&nprobes)
	if status == C.LANEBLOOM_OK {
		bytes := make([]byte, size)
		var built C.size_t
		status = C.build(C.double(g.bits), address(g.keys), (*C.uint64_t)(&g.offsets[0]),
			C.size_t(n), address(bytes), C.size_t(size), &built)
		if status == C.LANEBLOOM_OK {
			copy(to.Alloc(int(built)), bytes)
		}
	}
	if status != C.LANEBLOOM_OK {
		copy(to.Alloc(2), []byte{0, 31})
	}
	g.keys, g.offsets = g.keys[:0], g.offsets[:1]
}

func address(bytes []byte) unsafe.Pointer {
	if len(bytes) == 0 {
		return nil
	}
	return unsafe.Pointer(&bytes[0])
}
