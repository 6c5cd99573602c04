// Writes arrow_rs.parquet: arrow-rs FOLDER.
// SPDX-License-Identifier: MIT
use std::{env, fs::File, path::Path, sync::Arc};

use parquet::{
    data_type::{
        ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
        Int32Type, Int64Type,
    },
    errors::Result,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};

const N: usize = 24;
const GROUPS: usize = 2;
const SCHEMA: &str = "message rows {
    required binary text (STRING);
    optional binary json (JSON);
    optional int32 int8 (INTEGER(8,true));
    required int32 int32;
    required int64 int64;
    required int32 uint32 (INTEGER(32,false));
    required float float32;
    required double float64;
    required int32 date (DATE);
    required int64 us (TIMESTAMP(MICROS,true));
    required int64 ns (TIMESTAMP(NANOS,true));
    required int64 decimal18 (DECIMAL(18,3));
    required fixed_len_byte_array(13) decimal30 (DECIMAL(30,10));
    required fixed_len_byte_array(16) uuid (UUID);
    required group user { optional int64 id; }
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
}";

// Returns numbers that look random.
fn number(i: usize) -> u64 {
    let mut z = (i as u64 + 5).wrapping_mul(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

fn fixed(i: usize, size: usize) -> FixedLenByteArray {
    let mut bytes = (number(i) as i64 as i128 * (number(i + 1) >> 40) as i128)
        .to_be_bytes()
        .to_vec();
    bytes.drain(..16 - size);
    FixedLenByteArray::from(bytes)
}

// Returns definition levels, in which every fifth row is null.
fn levels(rows: &[usize]) -> Vec<i16> {
    rows.iter().map(|i| (i % 5 != 0) as i16).collect()
}

fn present(rows: &[usize]) -> impl Iterator<Item = usize> + '_ {
    rows.iter().copied().filter(|i| i % 5 != 0)
}

fn write_group(group: &mut SerializedRowGroupWriter<File>, rows: &[usize]) -> Result<()> {
    let defined = levels(rows);
    let mut column = 0;
    while let Some(mut writer) = group.next_column()? {
        macro_rules! all {
            ($type:ty, $value:expr) => {{
                let values: Vec<_> = rows.iter().map(|&i| $value(i)).collect();
                writer.typed::<$type>().write_batch(&values, None, None)?;
            }};
        }
        macro_rules! some {
            ($type:ty, $value:expr) => {{
                let values: Vec<_> = present(rows).map(|i| $value(i)).collect();
                writer.typed::<$type>().write_batch(&values, Some(&defined), None)?;
            }};
        }
        let double = |i: usize| match i {
            3 => -0.0,
            30 => f64::NAN,
            _ => number(i) as i64 as f64 / 65536.0,
        };
        match column {
            0 => all!(ByteArrayType, |i| ByteArray::from(format!("key {i}").as_str())),
            1 => some!(ByteArrayType, |i| ByteArray::from(format!("[{i}]").as_str())),
            2 => some!(Int32Type, |i| number(i) as i8 as i32),
            3 | 5 => all!(Int32Type, |i| number(i + column) as i32),
            4 => all!(Int64Type, |i| number(i) as i64),
            6 => all!(FloatType, |i| double(i) as f32),
            7 => all!(DoubleType, double),
            8 => all!(Int32Type, |i| number(i) as i16 as i32),
            9 => all!(Int64Type, |i| number(i) as i64 >> 14),
            10 => all!(Int64Type, |i| number(i) as i64 >> 4),
            11 => all!(Int64Type, |i| number(i) as i64 % 1_000_000_000_000_000_000),
            12 => all!(FixedLenByteArrayType, |i| fixed(i, 13)),
            13 => all!(FixedLenByteArrayType, |i| fixed(i, 16)),
            14 => some!(Int64Type, |i| number(i) as i64 >> 31),
            _ => {
                // each row has no list, or a list of two elements, the second of which may be null
                let (mut defined, mut repeated, mut values) = (vec![], vec![], vec![]);
                for &i in rows {
                    let n = if i % 5 == 0 { 1 } else { 2 };
                    for element in 0..n {
                        let is_there = i % 5 != 0 && (element == 0 || i % 3 != 0);
                        defined.push(if is_there { 3 } else if i % 5 == 0 { 0 } else { 2 });
                        repeated.push((element > 0) as i16);
                        if is_there {
                            let tag = format!("tag {}", (i + element) % 9);
                            values.push(ByteArray::from(tag.as_str()));
                        }
                    }
                }
                writer.typed::<ByteArrayType>().write_batch(
                    &values,
                    Some(&defined),
                    Some(&repeated),
                )?;
            }
        }
        writer.close()?;
        column += 1;
    }
    Ok(())
}

fn main() -> Result<()> {
    let folder = env::args().nth(1).expect("usage: arrow-rs FOLDER");
    let properties = WriterProperties::builder()
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_max_ndv(N as u64)
        .set_bloom_filter_fpp(0.02)
        .build();
    let mut writer = SerializedFileWriter::new(
        File::create(Path::new(&folder).join("arrow_rs.parquet"))?,
        Arc::new(parse_message_type(SCHEMA)?),
        Arc::new(properties),
    )?;
    for first in (0..N * GROUPS).step_by(N) {
        let rows: Vec<usize> = (first..first + N).collect();
        let mut group = writer.next_row_group()?;
        write_group(&mut group, &rows)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
