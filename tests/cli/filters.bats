# screen --filter: several filters at once.
# SPDX-License-Identifier: MIT
load helper

# make_filters N: makes filters 1 to N with 121 keys each, cycling through the formats. `input` has
# these keys and others.
make_filters() {
  local formats=(rocksdb-local leveldb rocksdb-legacy leveldb-signed) i
  options=() paths=()
  for ((i = 1; i <= $1; i++)); do
    numbers $((i * 100)) $((i * 100 + 120)) |
      lanebloom build --format "${formats[i % 4]}" -o "f$i.lbf"
    options+=(--filter "f$i.lbf")
    paths+=("f$i.lbf")
  done
  numbers 50 50000 >input
}

# one_by_one OPTION...: screens with one filter at a time, and prints the results,
# "NAME<tab>record", in the order of records.
one_by_one() {
  for path in "${paths[@]}"; do
    lanebloom screen "$@" -n "$path" input | sed "s/^\([0-9]*\):/\1\t$path\t/"
  done | sort -s -n -k 1,1 | cut -f 2-
}

@test "--filter twice and more: the union, in the order of the input" {
  make_filters 9
  one_by_one | cut -f 2 | uniq >expected
  [[ $(wc -l <expected) -gt 1000 ]]
  for jobs in 1 3; do
    lanebloom screen -j $jobs "${options[@]}" input | cmp - expected
    lanebloom screen -j $jobs "${options[@]}" -v input | cmp - <(grep -vFxf expected input)
  done
  [[ $(lanebloom screen -c "${options[@]}" <input) -eq $(wc -l <expected) ]]
  lanebloom screen -q "${options[@]}" input
  run -1 lanebloom screen "${options[@]}" <<<other
  [[ -z $output ]]
}

@test "--which: each record once for each filter, in the order of the options" {
  make_filters 9
  one_by_one >expected
  for jobs in 1 3; do
    lanebloom screen -j $jobs "${options[@]}" --which input | cmp - expected
  done
  for path in "${paths[@]}"; do
    printf '%s\t%d\n' "$path" "$(lanebloom screen -c "$path" input)"
  done | cmp - <(lanebloom screen "${options[@]}" --which -c input)
  lanebloom screen "${options[@]}" --which -n input | sed 's/\t[0-9]*:/\t/' | cmp - expected
  lanebloom screen --filter f1.lbf --which input | cmp - <(grep ^f1.lbf expected)
  lanebloom screen --which f1.lbf input | cmp - <(grep ^f1.lbf expected)
  run -1 lanebloom screen "${options[@]}" --which -c /dev/null
  [[ $output == $'f1.lbf\t0\nf2.lbf\t0\n'* ]]
}

# With at least 64 filters, the keys of a whole chunk are screened at once, and the chunks of files
# are larger.
@test "many filters: the same records as from a pipe, with fewer filters, and in every output" {
  make_filters 100
  {
    numbers 0 300000
    seq 1 50000
  } >input
  for first in 0 40 80 120 160; do
    lanebloom screen -n "${options[@]:first:40}" input
  done | sort -t : -k 1,1 -n -u | cut -d : -f 2 >expected
  [[ $(wc -l <expected) -gt 10000 ]]
  for jobs in 1 3; do
    lanebloom screen -j $jobs "${options[@]}" input | cmp - expected
    cat input | lanebloom screen -j $jobs "${options[@]}" | cmp - expected
    [[ $(lanebloom screen -j $jobs -c "${options[@]}" input) -eq $(wc -l <expected) ]]
    lanebloom screen -j $jobs "${options[@]}" --unmatched rest input >/dev/null
    lanebloom screen -j $jobs "${options[@]}" -v input | cmp - rest
    lanebloom screen -j $jobs "${options[@]}" --which -c input >counts
    [[ $(wc -l <counts) -eq 100 ]]
    for i in 1 2 50 64 99; do
      printf 'f%d.lbf\t%d\n' $i "$(lanebloom screen -c f$i.lbf input)" | grep -qxFf - counts
    done
  done
  lanebloom screen -m 1234 "${options[@]}" input | cmp - <(head -n 1234 expected)
}

@test "many filters: records of fields, some without a key" {
  make_filters 100
  numbers 0 60000 >input
  lanebloom screen "${options[@]}" input >expected
  awk '{ print "\"a\"\"b\",\"" $0 "\"" } NR % 5 == 0 { print "none" }' input >rows
  for option in drop keep; do
    lanebloom screen --csv --no-header -f 2 --missing=$option "${options[@]}" rows 2>messages >found
    grep -c '"' found | cmp - <(wc -l <expected)
    grep '"' found | cut -d '"' -f 6 | cmp - expected
    [[ $(grep -c none found) -eq $([[ $option == keep ]] && echo 12000 || echo 0) ]]
    grep -q '^lanebloom: 12000 of 72001 records ' messages
  done
}

# Each filter has one key. The keys of the first n filters are records, and the keys of the other
# filters are not.
@test "a thousand filters" {
  local i n=$(exhaustive && echo 1000 || echo 50) options=()
  echo other | lanebloom build -o other --bits 30
  for i in {1..1000}; do
    if ((i <= n)); then
      echo "key $i" | lanebloom build -o "$i.lbf" --bits 30
    else
      cp other "$i.lbf"
    fi
    options+=(--filter "$i.lbf")
  done
  seq -f 'key %.0f' 1 2000 >input
  lanebloom screen "${options[@]}" input | cmp - <(head -n "$n" input)
  lanebloom screen "${options[@]}" --which input | awk -F '\t' '{ print $1, $2 }' |
    cmp - <(for ((i = 1; i <= n; i++)); do echo "$i.lbf key $i"; done)
  lanebloom screen "${options[@]}" --which -c input | cut -f 2 |
    cmp - <(for i in {1..1000}; do echo $((i <= n)); done)
}

@test "fields, fixed width and filters of bare bytes" {
  printf 'a\n' | lanebloom build -o a
  printf 'b\n' | lanebloom build -o b
  printf 'n,k\n1,a\n2,"b"\n3,c\n' >rows.csv
  lanebloom screen --filter a --filter b --csv -f k --which rows.csv >output
  holds output 'n,k\na\t1,a\nb\t2,"b"\n'
  printf 'abc' | lanebloom screen --filter a --filter b --width 1 >output
  holds output 'ab'
  printf 'a\n' | lanebloom build --format leveldb --raw -o raw-a
  printf 'b\n' | lanebloom build --format leveldb --raw -o raw-b
  printf 'c\nb\na\n' |
    lanebloom screen --raw --format leveldb --filter raw-a --filter raw-b --which >output
  holds output 'raw-b\tb\nraw-a\ta\n'
}

@test "filters without a key, and without a bit to ask" {
  : | lanebloom build -o none
  printf 'a\n' | lanebloom build --format rocksdb-legacy -o a
  printf '\0\0\0\0\0' >never
  printf 'a\nb\n' | lanebloom screen --filter none --filter a --which >output
  holds output 'a\ta\n'
}

@test "all filters are read before anything is printed, and each that cannot be is named" {
  printf 'a\n' | lanebloom build -o a
  echo text >text
  run -2 --separate-stderr without_input "$LANEBLOOM" screen --filter a --filter nowhere \
    --filter text
  [[ -z $output && ${#stderr_lines[@]} -eq 2 ]]
  [[ $stderr == *"nowhere: No such file"*"text: "*"not a lanebloom container"* ]]
  echo a | "$LANEBLOOM" screen --filter a --filter <(cat a) | cmp - <(echo a)
  "$LANEBLOOM" screen --filter - --filter <(cat a) a 2>errors <a || [[ $? -eq 2 ]]
  [[ $(<errors) == *"a: expected records, found a lanebloom container: give each of several"* ]]
}

@test "what makes no sense is refused" {
  refuses "once, found 'a' twice" lanebloom screen --filter a --filter a
  refuses "only one of --filter, --filters-from and --db" lanebloom screen --filter a --db b
  refuses "only one of --which and --invert-match" lanebloom screen --filter a --which -v
  refuses "need --db PATH" lanebloom screen --writer goleveldb --filter a
  refuses "only one FILTER can be standard input" \
    lanebloom screen --filter - --filter /dev/stdin input
  refuses "FILTER and INPUT cannot both be standard input" lanebloom screen --filter a --filter -
}
