// SPDX-License-Identifier: MIT
//go:build !go1.21

package main

func usePinned() {}
