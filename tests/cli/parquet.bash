# Parquet files for tests: files of four writers (tests/vectors/README.md), and files of one value.
# SPDX-License-Identifier: MIT

VECTORS=${PARQUET_FILES:-$BATS_TEST_DIRNAME/../vectors/parquet}

# Makes a folder with two Parquet files, one of them in a subfolder. Other files are in folders that
# other programs write to or hide.
make_folder() {
  mkdir -p events/day=1/_temporary events/.hidden
  cp "$VECTORS/arrow_rs.parquet" events/a.parquet
  cp "$VECTORS/parquet_mr.parquet" events/day=1/b.parquet
  cp "$VECTORS/arrow_rs.parquet" events/day=1/_temporary/c.parquet
  cp "$VECTORS/arrow_rs.parquet" events/.hidden/d.parquet
  echo no >events/readme.txt
  chmod -R u+w events
}

# screen_events COLUMN OPTION...: screens the lines of `keys' against the files in `events'.
screen_events() {
  local column=$1
  shift
  lanebloom screen --parquet events --column "$column" "$@" keys
}

# little NUMBER NBYTES: prints the lowest NBYTES bytes, little-endian, in hexadecimal.
little() {
  local hex i
  hex=$(printf %016x "$1")
  for ((i = 14; i >= 16 - 2 * $2; i -= 2)); do printf %s "${hex:i:2}"; done
}

# one_value PHYSICAL ANNOTATION VALUE [NULLS [FILTER]]: prints a file whose only column has one
# value. NULLS is the count of nulls, and FILTER has its header. All arguments but PHYSICAL are
# hexadecimal.
one_value() {
  local physical length size footer field=${4:+2} # the bound's field, relative to the last one
  field=${field:-5}
  physical=$(printf %02x $((2 * $1)))
  length=$(printf %02x ${#3})
  size=$(printf %02x $((${#3} / 2)))
  footer=1504192c4804726f6f7415020015${physical}15${length}28016b${2}00
  footer+=1602191c191c26081c15${physical}
  footer+=2918016b2602260026083c${4:+36$4}${field}8${size}${3}18${size}${3}00${5:+2608}00002602
  footer+=00391c1c000000
  xxd -r -p <<<"50415231${5-}$footer$(little $((${#footer} / 2)) 4)50415231"
}
