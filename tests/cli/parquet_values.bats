# Values of Parquet columns and their texts: bounds are printed as text, and the text of keys is
# converted to the column's type.
# SPDX-License-Identifier: MIT
load helper
load parquet

# The bounds of numbers, decimals, dates, times and UUIDs are values of the column. `tables` prints
# them as text.
@test "the least and the largest value of a row group are found by their text" {
  nvalues=0
  for name in "$VECTORS"/*.parquet; do
    lanebloom tables --json "$name" | jq -r 'select(.filter_bytes and
      .decode != "bytes") | .column, .row_group, .smallest, .largest' >rows
    while read -r column && read -r group && read -r least && read -r most; do
      for value in $least $most; do
        [[ $value != null ]] || continue
        ((++nvalues))
        lanebloom screen --parquet "$name" --column $column --which <<<"$value" 2>err |
          grep -qF "$name	$group	$value" || { echo "$name $column $value"; cat err; return 1; }
      done
    done <rows
  done
  [[ $nvalues -gt 100 ]]
}

@test "the least and the largest numbers, dates and times are bounds as text" {
  local date=250c ms=2512 us=2514 ns=6c8c121c3c00000000 n=100
  mkdir bounds
  while read -r physical annotation value text; do
    one_value "$physical" "${annotation#-}" "$value" >bounds/$((n++)).parquet
    echo "$text" >>wanted
  done <<END
1 - $(little -2147483648 4) -2147483648
1 - $(little 2147483647 4) 2147483647
1 251a $(little -1 4) 4294967295
1 250e $(little -2147483648 4) -2147483648
1 250e $(little -1 4) -1
1 250e $(little 0 4) 00:00:00.000
1 250e $(little 86399999 4) 23:59:59.999
1 250e $(little 86400000 4) 86400000
1 250a1500150a $(little -2147483648 4) -2147483648
1 250a15041512 $(little -5 4) -0.05
1 250a15041512 $(little 0 4) 0.00
1 250a15041512 $(little 2147483647 4) 21474836.47
1 2516 $(little 200 4) 200
1 2520 $(little -32768 4) -32768
1 $date $(little 0 4) 1970-01-01
1 $date $(little -1 4) 1969-12-31
1 $date $(little -719162 4) 0001-01-01
1 $date $(little -719163 4) -719163
1 $date $(little 2932896 4) 9999-12-31
1 $date $(little 2932897 4) 2932897
1 $date $(little -2147483648 4) -2147483648
1 $date $(little 2147483647 4) 2147483647
2 - $(little -9223372036854775808 8) -9223372036854775808
2 - $(little 9223372036854775807 8) 9223372036854775807
2 251c $(little -1 8) 18446744073709551615
2 2510 $(little -9223372036854775808 8) -9223372036854775808
2 2510 $(little 45000000001 8) 12:30:00.000001
2 2510 $(little 9223372036854775807 8) 9223372036854775807
2 6c7c121c3c00000000 $(little 86399999999999 8) 23:59:59.999999999
2 250a15001516 $(little -9223372036854775808 8) -9223372036854775808
2 250a15241524 $(little -9223372036854775808 8) -9.223372036854775808
2 250a15241524 $(little 7 8) 0.000000000000000007
2 $ms $(little -1 8) 1969-12-31T23:59:59.999Z
2 $ms $(little -62135596800000 8) 0001-01-01T00:00:00.000Z
2 $ms $(little -62135596800001 8) -62135596800001
2 $ms $(little 253402300799999 8) 9999-12-31T23:59:59.999Z
2 $ms $(little 253402300800000 8) 253402300800000
2 $ms $(little -9223372036854775808 8) -9223372036854775808
2 $ms $(little 9223372036854775807 8) 9223372036854775807
2 $us $(little -1 8) 1969-12-31T23:59:59.999999Z
2 $us $(little -9223372036854775808 8) -9223372036854775808
2 $us $(little 9223372036854775807 8) 9223372036854775807
2 $ns $(little -1 8) 1969-12-31T23:59:59.999999999Z
2 $ns $(little -9223372036854775808 8) 1677-09-21T00:12:43.145224192Z
2 $ns $(little 9223372036854775807 8) 2262-04-11T23:47:16.854775807Z
3 - ffffffffffffffffffffffff -
4 - 0000c07f -
4 - 000080ff -inf
5 - ffffffffffffef7f 1.7976931348623157e+308
5 - ffffffffffffffff -
6 - 6162 ab
7 - 6162 0x6162
7 - 80000000000000000000000000000001 0x80000000000000000000000000000001
7 6cfc0000 0080 -
7 6cec0000 123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-426614174000
7 250a1500150a 8000000000000000 -9223372036854775808
7 250a15041504 ff -0.01
7 250a15041504 80 -1.28
7 250a1514154c 80000000000000000000000000000000 -17014118346046923173168730371.5884105728
7 250a1500154c 7fffffffffffffffffffffffffffffff 170141183460469231731687303715884105727
7 250a159801159801 $(printf %062d 0)ff 0.$(printf %073d 0)255
7 250a159801159801 $(printf %064d 0 | tr 0 f) -0.$(printf %075d 0)1
7 250a1500159801 80$(printf %062d 0) $(python3 -c 'print(-2 ** 255)')
END
  lanebloom tables --bounds=all --no-header bounds >found
  awk '{ print $10 }' found | diff wanted -
  awk '{ print $11 }' found | diff wanted -
  lanebloom tables --bounds=all --json bounds | jq -r '.smallest // "-"' | diff wanted -
  one_value 6 '' 00ff200a >bytes.parquet # printed as one word; JSON has the bytes in hexadecimal
  lanebloom tables --bounds=all --no-header bytes.parquet | awk '{ print $10 }' >word
  [[ $(<word) == '\000\377\040\012' ]]
  lanebloom tables --bounds=all --json bytes.parquet |
    jq -e '.smallest == null and .smallest_hex == "00ff200a"'
}

# There is a file for each text. Its filter has one value: these nanoseconds of this Julian day.
@test "timestamps of INT96: each year, to the nanosecond" {
  local n=0 header=15401c1c00001c1c00001c1c000000
  mkdir int96
  while IFS=, read -r text ns day; do
    value=$(little "$ns" 8)$(little "$day" 4)
    lanebloom build --format parquet --decode hex -o filter.lbf <<<"$value"
    filter=$header$(tail -c 32 filter.lbf | xxd -p -c 32)
    one_value 3 '' "$value" '' "$filter" >int96/$((++n)).parquet
    echo "$text" >>texts
    printf 'int96/%d.parquet\t0\t%s\n' $n "$text" >>wanted
  done <<END
0001-01-01,0,1721426
0001-01-01 00:00+00:01,86340000000000,1721425
1582-10-14T23:59:59.999999999,86399999999999,2299160
1582-10-15,0,2299161
1677-09-21T00:12:43.145224191Z,763145224191,2333836
1677-09-21T00:12:43.145224192Z,763145224192,2333836
1969-12-31 23:59:59.999999999,86399999999999,2440587
2024-02-29 12:34:56.789012345+01:00,41696789012345,2460370
2262-04-11T23:47:16.854775807,85636854775807,2547339
2262-04-11T23:47:16.854775808,85636854775808,2547339
2263-01-01,0,2547604
9999-12-31 00:00:00,0,5373484
9999-12-31T23:59:59.999999999,86399999999999,5373484
9999-12-31T23:59:59.9999999-23:59,86339999999900,5373485
END
  lanebloom screen --parquet int96 --column k --which texts | diff <(sort wanted) <(sort -)
  for text in 0000-12-31 10000-01-01 2024-02-30 '2024-02-29 12:34:56.1234567891'; do
    fails_with 'expected a time, as 2024-02-29T12:34:56.789012345Z, found' \
      lanebloom screen --parquet int96 --column k <(echo "$text")
  done
}

@test "timestamps of INT96: years that nanoseconds of 64 bits do not hold" {
  printf '%s\n' 0001-01-01 1582-10-04 1582-10-15T12:00Z '1677-09-21 00:12:43.145224' \
    '2262-04-11 23:47:16.854776' 2263-01-01 9999-12-31 9999-12-31T23:59:59.999999Z >there
  printf '%s\n' 0001-01-02 1582-10-05 1677-09-20 2263-01-02 9999-12-30 >absent
  run -0 lanebloom screen --parquet "$VECTORS/pyarrow_int96_years.parquet" --column time there
  diff there - <<<"$output"
  run -0 lanebloom screen --parquet "$VECTORS/pyarrow_int96_years.parquet" --column time -v \
    <(cat there absent)
  diff absent - <<<"$output"
}

@test "columns, types and keys that do not fit" {
  make_folder
  echo 5 >keys
  fails_with 'expected one column "txt", found none; the file has text, ' screen_events txt
  fails_with 'cannot hold this key' lanebloom screen --parquet events --column int8 <(echo 300)
  fails_with 'column 1: expected a whole number' lanebloom screen --parquet events --column int32 \
    <(echo 7x)
  fails_with 'line 2: column 1: expected a date' lanebloom screen --parquet events --column date \
    <(printf '2024-02-29\n2023-02-29\n')
  fails_with 'expected a column of int64, as --decode says, found column int32 of type int32' \
    screen_events int32 --decode int64
  fails_with 'expected one field as the key' lanebloom screen --parquet events --column int32 \
    -f 1,2 <(printf '1\t2\n')
  fails_with 'a column whose values can be keys' lanebloom screen --parquet \
    "$VECTORS/pyarrow.parquet" --column flag <(echo 1)
  # this file has a column of the same name with another type
  cp "$VECTORS/duckdb.parquet" events/c.parquet
  run -2 --separate-stderr lanebloom screen --parquet events --column decimal18 --prune <(echo 1.5)
  [[ $status -eq 2 ]]
}

# docs/parquet.md: a path names a column, a JSON pointer names a member.
@test "keys of nested columns may be members of nested objects" {
  name=$VECTORS/arrow_rs.parquet
  id=$(lanebloom tables --json "$name" | jq -r 'select(.column == "user.id").smallest' | head -1)
  printf '{"user": {"id": %d}}\n{"user": {"id": 5}}\n' "$id" >keys
  run --separate-stderr lanebloom hash --jsonl -f a /dev/null
  [[ $stderr != *"without simdjson"* ]] || skip "this build has no simdjson"
  lanebloom screen --parquet "$name" --column user.id --jsonl -f /user/id keys >found
  holds found "{\"user\": {\"id\": $id}}\n"
  fails_with "user.id" lanebloom screen --parquet "$name" --column user.id --jsonl -f user.id keys
}

@test "decimals have the scale of their column" {
  run -0 --separate-stderr lanebloom screen --parquet "$VECTORS/duckdb.parquet" --column decimal9 \
    --which <(printf '10.50\n-89.5\n10.51\n')
  [[ $output == *$'\t10.50\n'*$'\t-89.5'* && $output != *10.51* ]]
  fails_with 'that needs no rounding, found' lanebloom screen --parquet "$VECTORS/duckdb.parquet" \
    --column decimal9 <(echo 1.005)
}

# finds PHYSICAL ANNOTATION VALUE TEXT...: checks that each text is found as the column's only
# value.
finds() {
  local text
  one_value "$1" "${2#-}" "$3" >one.parquet
  for text in "${@:4}"; do
    lanebloom screen --parquet one.parquet --bounds=all --column k <(echo "$text") >found 2>err ||
      { echo "$text"; cat err; return 1; }
    [[ $(<found) == "$text" ]] || { echo "$text"; return 1; }
  done
}

# refuses_keys PHYSICAL ANNOTATION MESSAGE TEXT...: checks that each text is refused with this
# message.
refuses_keys() {
  local text
  one_value "$1" "${2#-}" "$(little 5 $((4 * $1)))" >one.parquet
  for text in "${@:4}"; do
    fails_with "$3" timeout 5 "$LANEBLOOM" screen --parquet one.parquet --bounds=all --column k \
      <(echo "$text")
    [[ $(lanebloom screen --parquet one.parquet --column k --missing=drop -c 2>/dev/null \
      <(echo "$text")) == 0 ]]
  done
}

@test "keys that are written in another way are found where they are exact" {
  local two_places=250a15041512 ns=6c7c121c3c00000000
  finds 1 - "$(little 500 4)" 500 500.0 5e2 5E+2 .5e3 50000e-2 +500
  finds 2 - "$(little -500 8)" -500 -500.00 -5e2
  finds 1 251a "$(little 4000000000 4)" 4e9 4000000000.0 # uint32
  finds 1 $two_places "$(little 10000 4)" 100 1e2 100.00 10000e-2 100.000
  finds 1 $two_places "$(little -5 4)" -0.05 -5e-2 -.05
  finds 1 250e "$(little 45000000 4)" 12:30:00 12:30 12:30:00.000 12:30:00.0000000 45000000 45e6
  finds 1 250e "$(little 45000250 4)" 12:30:00.25 12:30:00.250
  finds 2 2510 "$(little 86399999999 8)" 23:59:59.999999 23:59:59.999999000
  finds 2 $ns "$(little 1 8)" 00:00:00.000000001 1 1.0
  finds 2 $ns "$(little 0 8)" 00:00 00:00:00 0
  whole='expected a whole number from -2147483648 to 2147483647, found'
  refuses_keys 1 - "$whole" 5.5 1e-1 0.1 1e 5.0x 1e10 1e999999999 1e-999999999 12:30
  refuses_keys 1 $two_places 'that needs no rounding, found' 0.005 1e-3 1e999999999 5,0
  time="expected a time of day, as 12:34:56.789, or a whole number from -2147483648"
  refuses_keys 1 250e "$time" 12: :30 24:00:00 12:60 12:30:60 12:30:00.0001 12:30:00. 12:30Z 1:30 \
    12:30:00+01:00
}

# Keys are converted to the unit of the column in the first file, so another unit is another type.
@test "times of other units, and numbers, are other types" {
  mkdir events
  echo 00:00:00.005 >keys
  one_value 2 2510 "$(little 5000 8)" >events/a.parquet
  for file in "2 6c7c121c3c00000000" "2 -" "1 250e"; do
    one_value ${file% *} "$(sed 's/^-$//' <<<"${file#* }")" "$(little 5 8)" >events/b.parquet
    run -2 --separate-stderr screen_events k --bounds=all -v
    [[ -z $output && $stderr == *"events/b.parquet: "*"expected a column of type time-us, "* ]]
  done
}
