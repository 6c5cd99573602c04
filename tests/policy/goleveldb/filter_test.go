// SPDX-License-Identifier: MIT
package goleveldb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func key(i int) []byte {
	return []byte(fmt.Sprintf("%d%s", i*i*7919, "\xff\x80user-of-any-length"[:i%21]))
}

func TestBytesAndAnswers(t *testing.T) {
	for _, bits := range []int{0, 1, 9, 10, 14, 50} {
		ours, theirs := Bloom(bits), filter.NewBloomFilter(bits)
		if ours.Name() != theirs.Name() {
			t.Fatalf("the name is %q, goleveldb's %q", ours.Name(), theirs.Name())
		}
		one, other := ours.NewGenerator(), theirs.NewGenerator()
		for n := 0; n < 300; n++ {
			var found, expected util.Buffer
			for i := 0; i < n; i++ {
				one.Add(key(i))
				other.Add(key(i))
			}
			one.Generate(&found) // also empties the generator for the next filter
			other.Generate(&expected)
			if !bytes.Equal(found.Bytes(), expected.Bytes()) {
				t.Fatalf("%d bits per key, %d keys: the bytes differ", bits, n)
			}
			for i := 0; i < 2*n; i++ {
				if ours.Contains(found.Bytes(), key(i)) != theirs.Contains(found.Bytes(), key(i)) {
					t.Fatalf("%d bits per key, %d keys: key %d differs", bits, n, i)
				}
			}
		}
		for _, odd := range [][]byte{nil, {7}, {0, 31}, {0, 255}, {0, 0}, {0, 1}} {
			if ours.Contains(odd, key(1)) != theirs.Contains(odd, key(1)) {
				t.Fatalf("a filter of bytes %v differs", odd)
			}
		}
	}
}

// Generate cannot report an error, so after an error its filter must let every key pass.
func TestWhatCannotBeBuilt(t *testing.T) {
	generator := Bloom(-1).NewGenerator()
	generator.Add(key(1))
	var buffer util.Buffer
	generator.Generate(&buffer)
	if !filter.NewBloomFilter(10).Contains(buffer.Bytes(), key(2)) {
		t.Fatal("a filter that cannot be built loses keys")
	}
}

const nkeys = 20000

func write(t *testing.T, folder string, policy filter.Filter) {
	options := &opt.Options{Filter: policy, WriteBuffer: 64 << 20, Compression: opt.NoCompression}
	db, err := leveldb.OpenFile(folder, options)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < nkeys; i++ {
		if err := db.Put(key(i), key(i+1), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CompactRange(util.Range{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// Close may leave a table that was compacted. The next OpenFile removes it.
	if db, err = leveldb.OpenFile(folder, options); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func tables(t *testing.T, folder string) []byte {
	paths, err := filepath.Glob(filepath.Join(folder, "*.ldb"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d tables", folder, len(paths))
	}
	var all []byte
	for _, path := range paths {
		table, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, table...)
	}
	return all
}

func TestDatabases(t *testing.T) {
	policies := []filter.Filter{Bloom(10), filter.NewBloomFilter(10)}
	folders := []string{t.TempDir(), t.TempDir()}
	for i, policy := range policies {
		write(t, folders[i], policy)
	}
	if !bytes.Equal(tables(t, folders[0]), tables(t, folders[1])) {
		t.Fatal("the tables differ")
	}
	for i, policy := range policies {
		db, err := leveldb.OpenFile(folders[1-i], &opt.Options{Filter: policy})
		if err != nil {
			t.Fatal(err)
		}
		for k := 0; k < nkeys; k++ {
			value, err := db.Get(key(k), nil)
			if err != nil || !bytes.Equal(value, key(k+1)) {
				t.Fatalf("policy %d: key %d: %v", i, k, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
