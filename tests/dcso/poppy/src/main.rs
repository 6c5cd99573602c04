// Builds and queries filters of version 1 with poppy. Keys are lines.
//
//     dcso build KEYS RATE FILE  writes the filter of all keys
//     dcso check FILE KEYS       prints 1 or 0 for each key
//     dcso time FILE KEYS        prints the nanoseconds per key
//
// SPDX-License-Identifier: MIT
use poppy_filters::v1::BloomFilter;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::time::{Duration, Instant};

fn build(text: &[u8], rate: f64, path: &str) {
    let n = text.split(|&byte| byte == b'\n').count() - 1;
    let mut filter = BloomFilter::with_capacity(n as u64, rate).unwrap();
    for key in text.split(|&byte| byte == b'\n').take(n) {
        filter.insert_bytes(key).unwrap();
    }
    filter.write(&mut BufWriter::new(File::create(path).unwrap())).unwrap();
}

// The best of several rounds.
fn measure(filter: &BloomFilter, keys: &[&[u8]]) {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    let mut hits = 0usize;
    while begin.elapsed() < Duration::from_secs(2) {
        let first = Instant::now();
        hits += keys.iter().filter(|key| filter.contains_bytes(key)).count();
        best = best.min(first.elapsed());
    }
    println!("{:.2}", best.as_nanos() as f64 / keys.len() as f64);
    std::hint::black_box(hits);
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments[1] == "build" {
        let text = fs::read(&arguments[2]).unwrap();
        build(&text, arguments[3].parse().unwrap(), &arguments[4]);
        return;
    }
    let file = BufReader::new(File::open(&arguments[2]).unwrap());
    let filter = BloomFilter::from_reader(file).unwrap();
    let text = fs::read(&arguments[3]).unwrap();
    let mut keys: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    keys.pop();
    if arguments[1] == "time" {
        measure(&filter, &keys);
        return;
    }
    let mut out = BufWriter::new(io::stdout());
    for key in keys {
        out.write_all(if filter.contains_bytes(key) { b"1\n" } else { b"0\n" }).unwrap();
    }
}
