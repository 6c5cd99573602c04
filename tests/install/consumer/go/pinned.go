// From Go 1.21 on, keys may be in Go memory: a struct may hold a pointer to memory that is pinned.
// SPDX-License-Identifier: MIT
//go:build go1.21

package main

// #include <lanebloom.h>
import "C"

import (
	"runtime"
	"unsafe"
)

func usePinned() {
	bytes := numbers()
	var pinner runtime.Pinner
	pinner.Pin(&bytes[0])
	defer pinner.Unpin()
	keys := C.lanebloom_keys_fixed(unsafe.Pointer(&bytes[0]), width, n)
	use(&keys)
}
