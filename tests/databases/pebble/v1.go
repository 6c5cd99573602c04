// Pebble 1.
// SPDX-License-Identifier: MIT
package main

import (
	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/sstable"
	"github.com/cockroachdb/pebble/vfs"
)

type store1 struct{ db *pebble.DB }

func open1(folder string, s settings) store {
	options := &pebble.Options{
		FormatMajorVersion:          pebble.FormatMajorVersion(s.format),
		WALDir:                      s.logs,
		MemTableSize:                s.bufferBytes(),
		DisableAutomaticCompactions: s.buffer == 0,
		ReadOnly:                    s.readOnly,
		Logger:                      quiet{},
		EventListener:               &pebble.EventListener{},
	}
	options.Levels = []pebble.LevelOptions{{FilterPolicy: bloom.FilterPolicy(10)}}
	if s.codec == "none" {
		options.Levels[0].Compression = pebble.NoCompression
	}
	if s.split {
		comparer := *pebble.DefaultComparer
		comparer.Split = func(key []byte) int { return len(key) }
		options.Comparer = &comparer
	}
	options.EventListener.FlushBegin = func(pebble.FlushInfo) { flushBegins() }
	db, err := pebble.Open(folder, options)
	check(err)
	return store1{db}
}

func (s store1) do(what operation, a, b string) {
	key, value := []byte(a), []byte(b)
	check(map[operation]func() error{
		set:          func() error { return s.db.Set(key, value, pebble.NoSync) },
		setSync:      func() error { return s.db.Set(key, value, pebble.Sync) },
		merge:        func() error { return s.db.Merge(key, value, pebble.NoSync) },
		remove:       func() error { return s.db.Delete(key, pebble.NoSync) },
		removeSingle: func() error { return s.db.SingleDelete(key, pebble.NoSync) },
		removeSized:  func() error { return s.db.DeleteSized(key, 100, pebble.NoSync) },
		removeRange:  func() error { return s.db.DeleteRange(key, value, pebble.NoSync) },
		rangeKey:     func() error { return s.db.RangeKeySet(key, value, nil, key, pebble.NoSync) },
		logData:      func() error { return s.db.LogData(key, pebble.NoSync) },
		flush:        func() error { return s.db.Flush() },
		compact:      func() error { return s.db.Compact(key, value, false) },
		ingest:       func() error { return s.db.Ingest([]string{a}) },
	}[what]())
}

func (s store1) ingestAndExcise(path, from, to string) {
	span := pebble.KeyRange{Start: []byte(from), End: []byte(to)}
	_, err := s.db.IngestAndExcise([]string{path}, nil, span)
	check(err)
}

func (s store1) keys(take func(key []byte)) {
	each, err := s.db.NewIter(nil)
	check(err)
	for each.First(); each.Valid(); each.Next() {
		take(each.Key())
	}
	check(each.Close())
}

func (s store1) close() { check(s.db.Close()) }

func writeTable1(path string, keys []string) {
	file, err := vfs.Default.Create(path)
	check(err)
	writer := sstable.NewWriter(objstorageprovider.NewFileWritable(file), sstable.WriterOptions{
		Compression: pebble.NoCompression, FilterPolicy: bloom.FilterPolicy(10),
		TableFormat: sstable.TableFormatPebblev3})
	for _, key := range keys {
		check(writer.Set([]byte(key), []byte(value)))
	}
	check(writer.Close())
}
