// A user's program in Rust: one file, which declares the functions itself and links with
// -llanebloom.
// SPDX-License-Identifier: MIT
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;

#[repr(C)]
struct Keys {
    data: *const c_void,
    index: *const c_void,
    width: usize,
    stride: usize,
    n: usize,
    layout: u32,
    reserved32: u32,
    reserved: [u64; 2],
}

const LANEBLOOM_OK: c_int = 0;
const LANEBLOOM_ERR_IO: c_int = 8;
const LANEBLOOM_ROCKSDB_LOCAL: c_int = 3;

extern "C" {
    fn lanebloom_status_text(status: c_int) -> *const c_char;
    fn lanebloom_keys_strided(data: *const c_void, width: usize, stride: usize, n: usize) -> Keys;
    fn lanebloom_keys_part(keys: *const Keys, first: usize, n: usize) -> Keys;
    fn lanebloom_filter_build(
        format: c_int,
        bits_per_key: f64,
        keys: *const Keys,
        filter: *mut *mut c_void,
    ) -> c_int;
    fn lanebloom_filter_load(
        path: *const c_char,
        filter: *mut *mut c_void,
        problem: *mut c_char,
        problem_size: usize,
    ) -> c_int;
    fn lanebloom_filter_mask(filter: *const c_void, keys: *const Keys, mask: *mut u8) -> usize;
    fn lanebloom_filter_free(filter: *mut c_void);
}

// A record. The first field is the key.
#[repr(C)]
struct Record {
    key: u64,
    value: u32,
}

fn main() {
    const N: usize = 2000;
    let records: Vec<Record> = (0..N as u64).map(|i| Record { key: i * i, value: 7 }).collect();
    assert!(records.iter().all(|record| record.value == 7));
    let mut mask = vec![0xffu8; N];
    let mut filter: *mut c_void = ptr::null_mut();
    let mut problem = [0 as c_char; 200];
    unsafe {
        let data = records.as_ptr() as *const c_void;
        let keys = lanebloom_keys_strided(data, 8, std::mem::size_of::<Record>(), N);
        let half = lanebloom_keys_part(&keys, 0, N / 2);
        let status = lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 10.0, &half, &mut filter);
        assert_eq!(status, LANEBLOOM_OK, "{:?}", CStr::from_ptr(lanebloom_status_text(status)));
        let count = lanebloom_filter_mask(filter, &keys, mask.as_mut_ptr());
        lanebloom_filter_free(filter);
        assert!(mask[..N / 2].iter().all(|&hit| hit == 1));
        assert_eq!(mask.iter().map(|&hit| hit as usize).sum::<usize>(), count);
        assert!(count < N / 2 + N / 10, "{} of {} keys", count, N);

        let path = b"/no/such/file\0".as_ptr() as *const c_char;
        let status = lanebloom_filter_load(path, &mut filter, problem.as_mut_ptr(), problem.len());
        assert_eq!(status, LANEBLOOM_ERR_IO);
        assert!(filter.is_null());
        assert_eq!(CStr::from_ptr(problem.as_ptr()).to_str(), Ok("No such file or directory"));
    }
}
