// Binary fuse filters for Pebble 2.1, which has none itself. They are made with the library that
// later versions of Pebble use.
// SPDX-License-Identifier: MIT
package main

import (
	"encoding/binary"
	"math/bits"

	"github.com/FastFilter/xorfilter"
	"github.com/cockroachdb/pebble/v2"
	"github.com/zeebo/xxh3"
)

type fusePolicy struct{ nbits int } // of a fingerprint

func (p fusePolicy) Name() string { return "binaryfuse" }

func (p fusePolicy) NewWriter(pebble.FilterType) pebble.FilterWriter {
	return &fuseWriter{nbits: p.nbits}
}

// Iterators, by which this program lists keys, ask no filter.
func (p fusePolicy) MayContain(_ pebble.FilterType, filter, key []byte) bool { return true }

type fuseWriter struct {
	nbits  int
	hashes []uint64
}

func (w *fuseWriter) AddKey(key []byte) { w.hashes = append(w.hashes, xxh3.Hash(key)) }

func (w *fuseWriter) Finish(filter []byte) []byte {
	fuse, err := xorfilter.NewBinaryFuse[uint16](w.hashes)
	check(err)
	w.hashes = nil
	nbytes := (len(fuse.Fingerprints)*w.nbits + 7) / 8
	nbytes += map[int]int{10: 3, 12: 1}[w.nbits] // so that readers can load whole words
	packed := make([]byte, nbytes+4)
	for i, fingerprint := range fuse.Fingerprints {
		word := packed[i*w.nbits/8:]
		shifted := uint32(fingerprint) & (1<<w.nbits - 1) << (i * w.nbits % 8)
		binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|shifted)
	}
	filter = append(filter, packed[:nbytes]...)
	filter = binary.LittleEndian.AppendUint64(filter, fuse.Seed)
	filter = binary.LittleEndian.AppendUint32(filter, fuse.SegmentCount)
	return append(filter, byte(bits.TrailingZeros32(fuse.SegmentLength)), byte(w.nbits))
}
