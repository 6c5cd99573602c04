// A user's program in Go. cgo refuses a pointer to Go memory if that memory holds a pointer to Go
// memory, which the keys struct would. So the keys here are in C memory; pinned.go pins them
// instead.
// SPDX-License-Identifier: MIT
package main

// #cgo pkg-config: lanebloom
// #include <lanebloom.h>
// #include <stdlib.h>
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"
)

const n, width = 2000, 8

func insist(condition bool, what string, values ...interface{}) {
	if !condition {
		fmt.Fprintf(os.Stderr, what+"\n", values...)
		os.Exit(1)
	}
}

func numbers() []byte {
	bytes := make([]byte, n*width)
	for i := 0; i < n; i++ {
		binary.LittleEndian.PutUint64(bytes[i*width:], uint64(i*i))
	}
	return bytes
}

// Builds a filter of the first half of the keys, and queries all keys.
func use(keys *C.lanebloom_keys) {
	half := C.lanebloom_keys_part(keys, 0, n/2)
	var filter *C.lanebloom_filter
	status := C.lanebloom_filter_build(C.LANEBLOOM_ROCKSDB_LOCAL, 10, &half, &filter)
	insist(status == C.LANEBLOOM_OK, "build: %s", C.GoString(C.lanebloom_status_text(status)))
	defer C.lanebloom_filter_free(filter)
	mask := make([]byte, n)
	count := int(C.lanebloom_filter_mask(filter, keys, (*C.uint8_t)(unsafe.Pointer(&mask[0]))))
	for i, hit := range mask {
		insist(hit == 1 || (hit == 0 && i >= n/2), "key %d is lost", i)
	}
	insist(count >= n/2 && count < n/2+n/10, "%d of %d keys", count, n)
}

func main() {
	data := C.CBytes(numbers())
	defer C.free(data)
	keys := C.lanebloom_keys_fixed(data, width, n)
	use(&keys)
	usePinned()
}
