// Writes databases with the real Pebble, versions 1 and 2, and lists their keys:
//
//	test_pebble kinds                  all kinds, one per line
//	test_pebble make KIND FOLDER       writes a database
//	test_pebble keys KIND FOLDER       the keys that the engine's iterator shows
//	test_pebble write KIND FOLDER      writes w000000, w000001, ... and prints each when it is
//	                                   acknowledged, until it is killed
//
// SPDX-License-Identifier: MIT
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"sync/atomic"
	"time"
)

// The options with which a database is opened.
type settings struct {
	format    uint64 // FormatMajorVersion
	buffer    uint64 // bytes of a memtable; 0: 4 MiB, and no automatic compaction
	codec     string // "snappy", "zstd", "minlz" or "none"
	filter    string // "bloom", "none", or "fuse" with the bits of a fingerprint
	separated bool   // are values in files of their own?
	twoLevels bool   // are there indexes of indexes?
	logs      string // folder of the logs; "": the database's own
	secondary string // folder to which logs fail over repeatedly; "": none
	split     bool   // does the comparer define prefixes? Version 1 needs prefixes for range keys
	readOnly  bool
}

func (s settings) bufferBytes() uint64 {
	if s.buffer > 0 {
		return s.buffer
	}
	return 4 << 20
}

type operation int

const (
	set operation = iota
	setSync
	merge
	remove
	removeSingle
	removeSized
	removeRange // from, to
	rangeKey    // from, to
	logData
	flush
	compact
	ingest // path
)

// A database that either version of Pebble has opened.
type store interface {
	do(what operation, a, b string)
	ingestAndExcise(path, from, to string)
	keys(take func(key []byte))
	close()
}

// The functions and the newest format of a version of Pebble.
type engine struct {
	open       func(folder string, s settings) store
	writeTable func(path string, keys []string)
	newest     uint64 // the newest format whose tables lanebloom reads
}

var engines = map[string]engine{"v1": {open1, writeTable1, 16}, "v2": {open2, writeTable2, 24}}

var value = strings.Repeat("v", 100)

type quiet struct{}

func (quiet) Infof(string, ...interface{})  {}
func (quiet) Errorf(string, ...interface{}) {}
func (quiet) Fatalf(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Does the process end as soon as a flush begins?
var endsAtFlush atomic.Bool

func flushBegins() {
	if endsAtFlush.Load() {
		time.Sleep(200 * time.Millisecond) // time for the latest writes to reach the log
		os.Exit(0)
	}
}

func put(s store, begin string, from, to int) {
	for i := from; i < to; i++ {
		s.do(set, fmt.Sprintf("%s%06d", begin, i), value)
	}
}

func newTable(e engine, folder, begin string, n int) string {
	path := folder + ".sst"
	var keys []string
	for i := 0; i < n; i++ {
		keys = append(keys, fmt.Sprintf("%s%06d", begin, i))
	}
	e.writeTable(path, keys)
	return path
}

type kind struct {
	settings settings
	make     func(e engine, s store, folder string, again func() store) store
}

func logOnly(e engine, s store, folder string, again func() store) store {
	put(s, "log", 0, 3000)
	return s
}

func tables(e engine, s store, folder string, again func() store) store {
	put(s, "table", 0, 3000)
	s.do(flush, "", "")
	put(s, "table", 1500, 4500)
	s.do(flush, "", "")
	s.do(compact, "a", "z")
	put(s, "log", 0, 1000)
	return s
}

func reopened(e engine, s store, folder string, again func() store) store {
	put(s, "old", 0, 3000)
	s.close()
	s = again()
	put(s, "new", 0, 1000)
	return s
}

func deletions(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 4000)
	s.do(flush, "", "")
	for i := 0; i < 500; i++ {
		s.do(remove, fmt.Sprintf("key%06d", i), "")
		s.do(removeSingle, fmt.Sprintf("key%06d", 500+i), "")
		s.do(removeSized, fmt.Sprintf("key%06d", 1000+i), "")
	}
	s.do(removeRange, "key001500", "key002000")
	put(s, "key", 1700, 1800)
	s.do(logData, "nobody reads this", "")
	return s
}

func merges(e engine, s store, folder string, again func() store) store {
	for i := 0; i < 2000; i++ {
		s.do(merge, fmt.Sprintf("merge%06d", i%700), value)
		if i == 1000 {
			s.do(flush, "", "")
		}
	}
	return s
}

func rangeKeys(e engine, s store, folder string, again func() store) store {
	s.do(rangeKey, "a", "b")
	s.do(flush, "", "") // makes a table that has only a range key
	put(s, "key", 0, 1000)
	s.do(rangeKey, "key000100", "key000200")
	s.do(flush, "", "")
	put(s, "log", 0, 1000)
	s.do(rangeKey, "log000100", "log000200")
	return s
}

func ingested(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 1000)
	s.do(flush, "", "")
	s.do(ingest, newTable(e, folder, "ingested", 1000), "")
	return s
}

// The table and the keys in memory overlap, so at first only a log names the table.
func ingestedLog(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 1000)
	endsAtFlush.Store(true)
	s.do(ingest, newTable(e, folder, "key", 2000), "")
	return s
}

func excised(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 4000)
	s.do(flush, "", "")
	s.do(compact, "a", "z")
	s.ingestAndExcise(newTable(e, folder, "key0010", 100), "key001000", "key002000")
	s.ingestAndExcise(newTable(e, folder, "key0030", 100), "key003000", "key003100")
	return s
}

func excisedLog(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 1500)
	endsAtFlush.Store(true)
	s.ingestAndExcise(newTable(e, folder, "key0010", 100), "key001000", "key001300")
	return s
}

func many(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 20000)
	return s
}

// Writes entries of most kinds, in tables of two levels and in a log.
func mixed(e engine, s store, folder string, again func() store) store {
	put(s, "key", 0, 1500)
	s.do(flush, "", "")
	s.do(compact, "a", "z")
	put(s, "key", 700, 2000)
	for i := 0; i < 100; i++ {
		s.do(remove, fmt.Sprintf("key%06d", 3*i), "")
		s.do(merge, fmt.Sprintf("key%06d", 1990+i), value)
	}
	s.do(removeRange, "key000400", "key000450")
	s.do(rangeKey, "key000500", "key000550")
	random := rand.New(rand.NewSource(int64(e.newest)))
	for i, key := 0, []byte{}; i < 1000; i++ { // keys that share random parts with their neighbours
		key = key[:random.Intn(len(key)+1)]
		for j := random.Intn(20); j >= 0; j-- {
			key = append(key, byte(' '+random.Intn(224))) // does not end a line
		}
		s.do(set, string(key), value)
	}
	s.do(flush, "", "")
	put(s, "log", 0, 500)
	return s
}

// Opens a database of an old format, and upgrades it.
func upgraded(e engine, s store, folder string, again func() store) store {
	s.close()
	old := kind{settings{format: 13, codec: "snappy", filter: "bloom"}, mixed}
	check(os.RemoveAll(folder))
	mixed(e, old.open("v2", folder), folder, nil).close()
	s = again()
	put(s, "new", 0, 1000)
	s.do(flush, "", "")
	put(s, "log", 500, 1000)
	return s
}

func large(e engine, s store, folder string, again func() store) store {
	for i := 0; i < 40; i++ {
		s.do(set, fmt.Sprintf("large%06d", i), strings.Repeat("v", 1000*i+i))
	}
	s.do(set, strings.Repeat("k", 70000), value)
	return s
}

// Writes a few entries of most kinds, for a frozen database.
func small(e engine, s store, folder string, again func() store) store {
	put(s, "table", 0, 40)
	s.do(flush, "", "")
	s.do(compact, "a", "z")
	if e.newest > 16 {
		s.ingestAndExcise(newTable(e, folder, "table00002", 3), "table000020", "table000030")
	}
	for i := 0; i < 20; i++ {
		s.do(setSync, fmt.Sprintf("log%06d", i), value)
		time.Sleep(2 * time.Millisecond) // time for the log to fail over
	}
	s.do(merge, "merge", value)
	s.do(remove, "table000001", "")
	s.do(removeRange, "table000003", "table000006")
	return s
}

// Does the same as small, and ends the process while only a log names the last table.
func smallKilled(e engine, s store, folder string, again func() store) store {
	small(e, s, folder, again)
	s.do(removeSized, "table000002", "")
	endsAtFlush.Store(true)
	s.do(ingest, newTable(e, folder, "log", 25), "")
	return s
}

func kinds() map[string]kind {
	all := map[string]kind{}
	add := func(name string, s settings, make func(engine, store, string, func() store) store) {
		if s.format == 0 {
			s.format = engines[name[:2]].newest
		}
		if s.codec == "" {
			s.codec = "snappy"
		}
		if s.filter == "" {
			s.filter = "bloom"
		}
		all[name] = kind{s, make}
	}
	for version := range engines {
		add(version+"-log", settings{}, logOnly)
		add(version+"-tables", settings{}, tables)
		add(version+"-reopened", settings{}, reopened)
		add(version+"-deletions", settings{}, deletions)
		add(version+"-merges", settings{}, merges)
		add(version+"-range-keys", settings{split: true}, rangeKeys)
		add(version+"-ingested", settings{}, ingested)
		add(version+"-ingested-log", settings{}, ingestedLog)
		add(version+"-recycled", settings{buffer: 64 << 10}, many)
		add(version+"-large", settings{}, large)
	}
	add("v1-oldest", settings{format: 1}, tables)
	add("v1-oldest-log", settings{format: 1}, logOnly)
	add("v1-wal-dir", settings{logs: ".logs"}, tables)
	add("v1-small-oldest", settings{format: 1, codec: "none"}, small)
	add("v1-small", settings{codec: "none"}, smallKilled)
	add("v2-oldest", settings{format: 13}, tables)
	add("v2-zstd", settings{codec: "zstd"}, tables)
	add("v2-unsynced", settings{format: 19, buffer: 64 << 10}, many)
	add("v2-excised", settings{}, excised)
	add("v2-excised-log", settings{}, excisedLog)
	add("v2-wal-dir", settings{logs: "{store_path}/logs"}, tables)
	add("v2-secondary", settings{secondary: "{store_path}/second", buffer: 256 << 10}, many)
	add("v2-small", settings{format: 20, codec: "none", secondary: "{store_path}/second"},
		smallKilled)
	add("v2-small-6", settings{format: 21, codec: "minlz", twoLevels: true}, smallKilled)
	add("v2-upgraded", settings{filter: "fuse8"}, upgraded)
	add("v2-separated", settings{separated: true, buffer: 64 << 10}, many)
	add("v2-fuse", settings{filter: "fuse8", codec: "minlz", buffer: 64 << 10}, many)
	// Formats before 21 write Snappy for MinLZ, and formats before 24 keep values in the tables.
	codecs := []string{"snappy", "zstd", "minlz", "none"}
	for format := 13; format <= 24; format++ {
		for i, filter := range []string{"bloom", "fuse4", "fuse8", "fuse10", "fuse12", "fuse16", "none"} {
			s := settings{format: uint64(format), filter: filter, codec: codecs[(format+i)%4],
				separated: i%2 == 0, twoLevels: i%3 == 0}
			add(fmt.Sprintf("v2-%d-%s-%s", format, filter, s.codec), s, mixed)
		}
	}
	return all
}

// Opens a database of this kind.
func (k kind) open(name, folder string) store {
	s := k.settings
	if strings.HasPrefix(s.logs, ".") {
		s.logs = folder + s.logs
	}
	return engines[name[:2]].open(folder, s)
}

func main() {
	all := kinds()
	if len(os.Args) == 2 && os.Args[1] == "kinds" {
		var names []string
		for name := range all {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: test_pebble kinds | make|keys|write KIND FOLDER")
		os.Exit(2)
	}
	name, folder := os.Args[2], os.Args[3]
	k, found := all[name]
	if !found {
		fmt.Fprintln(os.Stderr, "no such kind:", name)
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch os.Args[1] {
	case "make":
		again := func() store { return k.open(name, folder) }
		k.make(engines[name[:2]], again(), folder, again).close()
	case "keys":
		k.settings.readOnly = true
		s := k.open(name, folder)
		s.keys(func(key []byte) { fmt.Fprintf(out, "%s\n", key) })
		s.close()
	case "write":
		const together = 100 // the last key of each hundred is acknowledged once all are in the log
		s := k.open(name, folder)
		for i := 0; ; i += together {
			put(s, "w", i, i+together-1)
			s.do(setSync, fmt.Sprintf("w%06d", i+together-1), value)
			for j := i; j < i+together; j++ {
				fmt.Fprintf(out, "w%06d\n", j)
			}
			check(out.Flush())
			time.Sleep(10 * time.Millisecond) // the program that screens may be a slow build
		}
	}
}
