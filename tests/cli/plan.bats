# lanebloom plan: its numbers equal the numbers of the filters that build makes.
# SPDX-License-Identifier: MIT
load helper

plan() {
  lanebloom plan --json "$@"
}

@test "a row for each format, with the size and probes of the filter that build makes" {
  numbers 1 5000 >keys
  for how in "--rate 1%" "--rate 0.003" "--bits 10" "--bits 23" "--size 8k" "--size 20KiB"; do
    plan --keys 5k $how >rows
    [[ $(jq -r .format rows | sort) == "cassandra
cassandra-2
cassandra-3
dcso
dcso-signed
guava-32
guava-64
leveldb
leveldb-signed
parquet
rocksdb-legacy
rocksdb-local
spark-v1
spark-v2" ]]
    while read -r format bits nbytes probes rate; do
      build_how="--bits $bits" # some writers choose the probes by the rate
      [[ $how != --rate* ]] || build_how=$how
      lanebloom build --format $format $build_how --expected 5k -o filter keys
      lanebloom info --json filter >info
      jq -e ".filter_bytes == $nbytes and .probes == $probes and
        (.bits_per_key - $bits | fabs) < 1e-9" info >/dev/null ||
        { echo "$how: $format $bits $nbytes $probes"; false; }
      [[ $how != "--size 8k" || $nbytes -le 8000 ]]
      [[ $how != "--size 20KiB" || $nbytes -le 20480 ]]
      # the writers of Guava's and DCSO's filters choose a little less than the model asks for
      [[ $how != "--rate 1%" ]] || jq -en "$rate <= 0.01005" >/dev/null
    done < <(jq -r '[.format, .bits_per_key, .filter_bytes, .probes, .model_rate] | @tsv' rows)
  done
}

@test "--rate chooses the bits that build --rate chooses" {
  numbers 1 1000 >keys
  for format in leveldb rocksdb-legacy rocksdb-local; do
    lanebloom build --format $format --rate 0.5% --expected 1000 -o filter keys
    [[ $(plan --keys 1000 --rate 0.5% | jq "select(.format == \"$format\") | .bits_per_key") == \
      "$(lanebloom info --json filter | jq .bits_per_key)" ]]
  done
}

@test "--size: one step more would be too large" {
  while read -r format bits nbytes; do
    [[ $nbytes -le 1000000 ]]
    step=1
    [[ $format != rocksdb-local ]] || step=0.001
    more=$(jq -n "$bits + $step")
    larger=$(plan --keys 700k --bits $more | jq "select(.format == \"$format\") | .filter_bytes")
    [[ $larger -gt 1000000 ]] || { echo "$format: $bits, $more: $larger"; false; }
  done < <(plan --keys 700k --size 1MB | jq -r '[.format, .bits_per_key, .filter_bytes] | @tsv')
  [[ $(plan --keys 5 --size 1G | jq -s 'map(select(.format | startswith("rocksdb"))) |
    map(.bits_per_key) | max') == 100 ]]
}

@test "the table has what the JSON has" {
  for how in "--rate 1%" "--bits 10" "--size 10MB"; do
    lanebloom plan --keys 1M $how >table
    [[ $(head -n 1 table) == "FORMAT "*" MEMORY "*" UNSIZED" ]]
    plan --keys 1M $how | jq -r '[.format, .bits_per_key, .probes, .filter_bytes] | @tsv' |
      diff - <(tail -n +2 table | awk -v OFS='\t' '{ print $1, $2, $3, $4 }')
  done
  lanebloom plan --keys 1M --bits 10 | grep -Eq '^rocksdb-local .* 1.3 MB +9.3 MB$'
  jq -e '.build_bytes == .filter_bytes and .build_bytes_unsized == .filter_bytes + 8 * .keys' \
    <(plan --keys 1M --bits 10 | grep spark-v2)
}

@test "--measure: times of the kernel in use" {
  timeout 60 "$LANEBLOOM" plan --kernel scalar --keys 1M --bits 10 --measure --json >rows
  [[ $(jq -s 'length >= 12 and all(.ns_per_absent_key > 0 and .ns_per_present_key > 0)' rows) == \
    true ]]
  timeout 60 "$LANEBLOOM" plan --kernel scalar --keys 1M --bits 10 --measure >table
  [[ $(head -n 1 table) == *" ABSENT  PRESENT" ]]
  run -1 grep -vE '^(FORMAT .*|.* [0-9]+[.][0-9]{2} +[0-9]+[.][0-9]{2})$' table
}

@test "formats that cannot have such a filter say why" {
  run -0 --separate-stderr lanebloom plan --keys 1e9 --rate 0.1%
  grep -q '^leveldb  *cannot reach this rate with so many keys$' <<<"$output"
  grep -q '^rocksdb-local  *[0-9]' <<<"$output"
  run -0 lanebloom plan --keys 1e6 --bits 10.5
  grep -q '^leveldb  *expected 0 to 2147483647 bits per key in steps of 1$' <<<"$output"
  run -0 lanebloom plan --keys 1e12 --bits 10
  grep -q '^rocksdb-local  *cannot hold so many keys at 10 bits per key$' <<<"$output"
  run -1 lanebloom plan --keys 1e6 --bits 0.4
  grep -q '^rocksdb-local  *expected at least 0.5 bits per key$' <<<"$output"
  run -1 lanebloom plan --keys 1e6 --size 8
  [[ $(grep -c 'has no filter of so few bytes for so many keys$' <<<"$output") -ge 12 ]]
  run -1 lanebloom plan --keys 1e6 --size 8 --json
  [[ $(jq -s 'length >= 12 and all(.problem | startswith("has no filter"))' <<<"$output") == true ]]
}

@test "numbers beyond 64 bits" {
  run -1 lanebloom plan --keys 18446744073709551615 --bits 1 --json
  run -0 lanebloom plan --keys 1 --size 18446744073709551615
  run lanebloom plan --keys 18446744073709551615 --rate 1%
  [[ $status -le 1 ]]
}

@test "options that are needed, and their values" {
  refuses "expected --keys N" lanebloom plan --rate 1%
  refuses "expected one of --rate, --bits and --size" lanebloom plan --keys 1M
  refuses "expected one of --rate, --bits and --size" lanebloom plan --keys 1M --rate 1% --bits 10
  refuses "--keys: expected a whole number from 1 to" lanebloom plan --keys 1.5 --rate 1%
  refuses "--rate: expected a number between 0 and 1" lanebloom plan --keys 1M --rate 1
  for size in 0 1m 1.5B 1KB1 MB "" 1MiBB; do
    refuses "--size: expected a number of bytes such as 1000000, 64MiB or 1GB, found '$size'" \
      lanebloom plan --keys 1M "--size=$size"
  done
  refuses "Too many arguments" lanebloom plan --keys 1M --rate 1% extra
  [[ $(plan --keys 1M --size 1MiB | cksum) == "$(plan --keys 1M --size 1048576B | cksum)" ]]
  [[ $(plan --keys 1M --size 1.5MB | cksum) == "$(plan --keys 1M --size 1500k | cksum)" ]]
}

@test "numbers as people also write them: the message says how" {
  for number in 1,000 1_000 "1 M" "1'000" " 1"; do
    for option in --rate --bits --size; do
      refuses "found '$number'; write it without spaces and separators" \
        lanebloom plan --keys 1M "$option=$number"
    done
    refuses "found '$number'; write it without spaces and separators" \
      lanebloom plan "--keys=$number" --rate 1%
  done
  refuses "found '0,1%'; write it without spaces and separators, and decimals after a point" \
    lanebloom plan --keys 1M --rate 0,1%
  for number in 10GB 1m 1bn 1KB 1.5B; do
    refuses "found '$number'; units are k, M, G and T, or Ki, Mi, Gi and Ti" \
      lanebloom plan --keys $number --rate 1%
  done
  for unit in % M k KiB GB Ti; do
    refuses "expected numbers and their units in one word, as in 10M or 0.1%, found the unit \
'$unit'" lanebloom plan --keys 1 $unit --rate 0.1%
  done
  for rate in 1 5 99.9; do
    refuses "between 0 and 1, or 0% and 100%, found '$rate'; did you mean '$rate%'?" \
      lanebloom plan --keys 1M --rate $rate
  done
  for rate in 0 -0 -0% 0% 100 100% 1e3 -1 -1% % ""; do
    refuses "expected a number between 0 and 1, or 0% and 100%, found '$rate'" \
      lanebloom plan --keys 1M --rate=$rate
    [[ $stderr != *"did you mean"* ]]
  done
  refuses "--bits: expected a number, found '10k'" lanebloom plan --keys 1M --bits 10k
  [[ $stderr != *units* ]]
  plan --keys 1M --bits=-0 | cmp - <(plan --keys 1M --bits 0)
}
