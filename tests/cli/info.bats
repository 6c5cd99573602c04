# lanebloom info.
# SPDX-License-Identifier: MIT
load helper

make_filter() {
  numbers 1 10000 | lanebloom build -o filter
}

@test "text: what it is, and a rate that is labelled a model" {
  make_filter
  run -0 --separate-stderr lanebloom info filter
  [[ ${lines[0]} == "file: filter" && ${lines[1]} == "format: rocksdb-local" &&
    ${lines[2]} == "keys: 10000" ]]
  [[ ${lines[3]} == "bits per key: 10" && ${lines[4]} == "probes per key: 6" &&
    ${lines[5]} == "filter size: 12549 bytes" ]]
  [[ ${lines[6]} == "addressable bits: 100352" &&
    ${lines[7]} =~ ^bits\ set:\ [0-9]+\ \([0-9]+\.[0-9]+\ %\)$ ]]
  [[ ${lines[8]} =~ ^"false-positive rate, model: 0."[0-9]+\ %$ && ${#lines[@]} -eq 10 &&
    ${lines[9]} == "key form: bytes" && -z $stderr ]]
}

@test "the bits that are set are the bits that are set" {
  make_filter
  numbers 1 10000 | lanebloom build --raw -o raw
  nset=$(head -c -5 raw | od -An -v -tu1 |
    awk '{ for (i = 1; i <= NF; i++) for (b = $i; b > 0; b = int(b / 2)) n += b % 2 }
      END { print n }')
  [[ $(lanebloom info --json filter | jq .bits_set) -eq $nset ]]
  lanebloom info filter | grep -q "^bits set: $nset "
}

@test "--json: an object per line, numbers as numbers" {
  make_filter
  cp filter other
  lanebloom info --json filter other >json
  [[ $(wc -l <json) -eq 2 && $(jq -r .file json) == $'filter\nother' ]]
  [[ $(head -n 1 json | jq -c keys_unsorted) == \
    '["file","format","keys","bits_per_key","probes","filter_bytes","bits","bits_set","fill",'\
'"model_rate","key_form"]' ]]
  [[ $(jq -c '[.[] | type]' json | sort -u) == \
    '["string","string","number","number","number","number","number","number","number","number",'\
'"object"]' ]]
  [[ $(jq '.fill == .bits_set / .bits' json | sort -u) == true ]]
}

@test "bare bytes: keys and bits per key are unknown, null in JSON" {
  numbers 1 10000 | lanebloom build --raw -o raw
  run -0 lanebloom info --raw --format rocksdb-local raw
  [[ ${lines[2]} == "keys: unknown" && ${lines[3]} == "bits per key: unknown" ]]
  [[ $(lanebloom info --raw --format rocksdb --json raw |
    jq -c '[.format, .keys, .bits_per_key, .probes]') == '["rocksdb-local",null,null,6]' ]]
  refuses "give both --raw and --format" lanebloom info --raw raw
}

@test "--measure: the interval holds the rate, and a second measurement" {
  make_filter
  lanebloom info --json --measure filter >a
  [[ $(jq '.measured_rate | .low < .rate and .rate < .high and .hashes == 1000000 and .seed > 0' \
    a) == true ]]
  [[ $(jq '.measured_rate.rate > 0.005 and .measured_rate.rate < 0.015' a) == true ]]
  lanebloom info --json --measure filter | cmp - a
  run -0 lanebloom info --measure=5000 filter
  [[ ${lines[9]} =~ ^"false-positive rate, measured: ".*"5000 random hashes, seed "[0-9]+\)$ ]]
}

@test "--measure: the interval is Wilson's" {
  numbers 1 10 | lanebloom build --bits 1000 -o sparse
  # If none of n keys passes, the interval is 0 to z^2 / (n + z^2).
  [[ $(lanebloom info --json --measure=100 sparse |
    jq '.measured_rate | .rate == 0 and .low == 0 and (.high - 0.036993498207 | fabs) < 1e-10') == \
    true ]]
  : >never
  printf '\0\0\0\37' >always
  lanebloom info --raw --format leveldb --json --measure=7 never always >json
  [[ $(jq -c '.measured_rate | [.low == 0, .high == 1]' json) == $'[true,false]\n[false,true]' ]]
  for n in 0 x -1; do
    refuses "--measure: expected a whole number from 1 to 18446744073709551615, found '$n'" \
      lanebloom info --measure=$n sparse
  done
}

@test "constant answers are called so" {
  : >never
  printf '\0\0\0\37' >always
  run -0 lanebloom info --raw --format leveldb --measure=1000 never
  [[ $output == *"constant answer: no to every key"*"measured: 0 %"* ]]
  run -0 lanebloom info --raw --format leveldb --measure=1000 always
  [[ $output == *"constant answer: yes to every key"*"measured: 100 %"* ]]
  lanebloom info --raw --format leveldb --json never always |
    jq -e -s 'length == 2 and all(.[]; .probes == 0 and .fill == null)'
}

@test "several files: goes on after an error, status 2" {
  make_filter
  run -2 --separate-stderr lanebloom info --json missing filter . filter
  [[ ${#lines[@]} -eq 2 && ${#stderr_lines[@]} -eq 2 ]]
  [[ ${stderr_lines[0]} == "lanebloom: missing: No such file or directory" ]]
  [[ ${stderr_lines[1]} == "lanebloom: .: Is a directory; "* ]]
}

@test "the filter from standard input; none given" {
  make_filter
  [[ $(lanebloom info - <filter | head -n 1) == "file: (standard input)" ]]
  refuses "expected a FILTER, found none" lanebloom info
}

@test "names: control characters are escaped, JSON stays JSON" {
  make_filter
  name=$'odd\n\033"\\name'
  cp filter "$name"
  run -0 lanebloom info "$name"
  [[ ${lines[0]} == 'file: odd\012\033"\134name' ]]
  [[ "$(lanebloom info --json "$name" | jq -r .file)" == "$name" ]]
  cp filter $'latin-\374' 
  [[ $(lanebloom info --json $'latin-\374' | jq -r .file) == 'latin-\374' ]]
  cp filter 'für'
  [[ $(lanebloom info --json 'für' | jq -r .file) == 'für' ]]
  [[ $(LC_ALL=C lanebloom info 'für' | head -n 1) == 'file: für' ]]
}
