// Pebble 2.
// SPDX-License-Identifier: MIT
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

type store2 struct{ db *pebble.DB }

func open2(folder string, s settings) store {
	options := &pebble.Options{
		FormatMajorVersion:          pebble.FormatMajorVersion(s.format),
		WALDir:                      s.logs,
		MemTableSize:                s.bufferBytes(),
		DisableAutomaticCompactions: s.buffer == 0,
		ReadOnly:                    s.readOnly,
		Logger:                      quiet{},
		EventListener:               &pebble.EventListener{},
	}
	codec := map[string]*block.CompressionProfile{"snappy": block.SnappyCompression,
		"zstd": block.ZstdCompression, "minlz": block.MinLZCompression,
		"none": block.NoCompression}[s.codec]
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = filterPolicy(s.filter)
		options.Levels[i].Compression = func() *block.CompressionProfile { return codec }
		if s.twoLevels {
			options.Levels[i].BlockSize = 64
			options.Levels[i].IndexBlockSize = 64
		}
	}
	if s.separated {
		options.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
			return pebble.ValueSeparationPolicy{
				Enabled: true, MinimumSize: 50, MaxBlobReferenceDepth: 10, TargetGarbageRatio: 1}
		}
	}
	options.EventListener.FlushBegin = func(pebble.FlushInfo) { flushBegins() }
	if s.secondary != "" {
		options.WALFailover = &pebble.WALFailoverOptions{
			Secondary: wal.Dir{FS: vfs.Default, Dirname: s.secondary},
			FailoverOptions: wal.FailoverOptions{
				PrimaryDirProbeInterval:      time.Millisecond,
				HealthyProbeLatencyThreshold: time.Hour,
				HealthyInterval:              10 * time.Millisecond,
				UnhealthySamplingInterval:    time.Millisecond,
				UnhealthyOperationLatencyThreshold: func() (time.Duration, bool) {
					return 10 * time.Microsecond, true
				},
			},
		}
	}
	db, err := pebble.Open(folder, options)
	check(err)
	return store2{db}
}

func filterPolicy(filter string) pebble.FilterPolicy {
	var nbits int
	if n, _ := fmt.Sscanf(filter, "fuse%d", &nbits); n == 1 {
		return fusePolicy{nbits}
	}
	if filter == "none" {
		return pebble.NoFilterPolicy
	}
	return bloom.FilterPolicy(10)
}

func (s store2) do(what operation, a, b string) {
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
		compact:      func() error { return s.db.Compact(context.Background(), key, value, false) },
		ingest:       func() error { return s.db.Ingest(context.Background(), []string{a}) },
	}[what]())
}

func (s store2) ingestAndExcise(path, from, to string) {
	_, err := s.db.IngestAndExcise(context.Background(), []string{path}, nil, nil,
		pebble.KeyRange{Start: []byte(from), End: []byte(to)})
	check(err)
}

func (s store2) keys(take func(key []byte)) {
	each, err := s.db.NewIter(nil)
	check(err)
	for each.First(); each.Valid(); each.Next() {
		take(each.Key())
	}
	check(each.Close())
}

func (s store2) close() { check(s.db.Close()) }

func writeTable2(path string, keys []string) {
	file, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
	check(err)
	writer := sstable.NewWriter(objstorageprovider.NewFileWritable(file), sstable.WriterOptions{
		Compression: block.NoCompression, FilterPolicy: bloom.FilterPolicy(10),
		TableFormat: sstable.TableFormatPebblev4})
	for _, key := range keys {
		check(writer.Set([]byte(key), []byte(value)))
	}
	check(writer.Close())
}
