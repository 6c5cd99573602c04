# The outputs for records, and the reports beside them: -o, --unmatched, --annotate, --summary.
# SPDX-License-Identifier: MIT
load helper

# Makes `input' and a filter of half of its lines. `hits' gets the lines that pass, and `others'
# gets the lines that do not.
make_input() {
  numbers 1 40000 | awk 'NR % 4 < 2' | lanebloom build --bits 20 -o filter
  numbers 1 80000 | shuf --random-source=<(yes) >input
  lanebloom screen filter input >hits
  lanebloom screen -v filter input >others
  [[ $(wc -l <hits) -gt 19999 && $(wc -l <others) -gt 50000 ]]
}

make_rows() {
  printf 'b\nc,"d"\n' >keys
  lanebloom build --bits 40 -o key-filter keys
  printf 'id,key\r\n1,a\r\n2,"b"\r\n"3\r\n""x",b\n4,"c,""d"""\r\n5,e' >rows.csv
}

@test "-o and --unmatched: each record in one of both, in order, in one pass" {
  make_input
  for jobs in 1 3; do
    lanebloom screen -j $jobs -o out --unmatched rest filter <input
    cmp out hits
    cmp rest others
    lanebloom screen -j $jobs -v -o out --unmatched rest filter input
    cmp out others
    cmp rest hits
    lanebloom screen -j $jobs --unmatched rest filter input | cmp - hits
    cmp rest others
    lanebloom match -j $jobs -o out --unmatched rest hits input
    cmp out hits
    cmp rest others
  done
  [[ $(lanebloom screen -c --unmatched rest filter input) -eq $(wc -l <hits) ]]
  cmp rest others
  lanebloom screen -n --unmatched rest filter input | cmp - <(grep -nFxf hits input)
  cmp rest others
  lanebloom screen --which --unmatched rest filter input | cmp - <(sed 's/^/filter\t/' hits)
  cmp rest others
  lanebloom screen -o - filter input | cmp - hits
  lanebloom screen -o /dev/stdout filter input | cmp - hits
  lanebloom screen filter input --unmatched /dev/stderr 2>&1 >/dev/null | cmp - others
}

@test "nothing selected, nothing left: the files are empty, the status is grep's" {
  make_input
  run -1 lanebloom screen -o out --unmatched rest filter <<<other
  [[ ! -s out && $(<rest) == other ]]
  lanebloom screen -o out --unmatched rest filter hits
  cmp out hits
  [[ ! -s rest ]]
}

@test "headers go to both; records are whole, with quotes, line ends and \\r" {
  make_rows
  lanebloom screen --csv -f key -o out --unmatched rest key-filter rows.csv
  holds out 'id,key\r\n2,"b"\r\n"3\r\n""x",b\n4,"c,""d"""\r\n'
  holds rest 'id,key\r\n1,a\r\n5,e\r\n'
  lanebloom match --csv -f key -c --unmatched rest keys rows.csv >count
  holds count '3\n'
  holds rest 'id,key\r\n1,a\r\n5,e\r\n'
  printf 'a\0b\0c' | lanebloom screen -z --unmatched rest key-filter | cmp - <(printf 'b\0')
  holds rest 'a\0c\0'
  printf 'abcb' | lanebloom screen --width 1 --unmatched rest key-filter >out
  holds out bb
  holds rest ac
}

@test "-m: the files end with the last record that is selected" {
  make_input
  for n in 1 2 1000 19000; do
    last=$(sed -n ${n}p hits)
    sed "/$last/q" input >first
    for jobs in 1 3; do
      lanebloom screen -j $jobs -m $n -o out --unmatched rest filter input
      cmp out <(head -n $n hits)
      cmp rest <(grep -vFxf hits first)
      lanebloom screen -j $jobs -m $n --annotate filter input | cut -f 1 | cmp - first
    done
  done
}

@test "--annotate: every record, and 1 or 0 as one more field" {
  make_input
  awk 'NR == FNR { hit[$1]; next } { print $1 "\t" ($1 in hit ? 1 : 0) }' hits input >expected
  for jobs in 1 3; do
    lanebloom screen -j $jobs --annotate filter input | cmp - expected
    lanebloom screen -j $jobs --annotate -v filter input | tr '\t01' '\t10' |
      cmp - <(tr '\t01' '\t10' <expected | awk -F '\t' -v OFS='\t' '{ $2 = 1 - $2 } 1')
    lanebloom match -j $jobs --annotate hits input | cmp - expected
  done
  lanebloom screen --annotate --filter filter --filter <(lanebloom build -o - others) input |
    grep -c '1$' | grep -qx 80000
  run -1 lanebloom screen --annotate filter <<<other
  [[ $output == $'other\t0' ]]
}

@test "--annotate: separators, headers, line ends and quotes" {
  make_rows
  lanebloom screen --csv -f key --annotate=hit key-filter rows.csv >out
  holds out \
    'id,key,hit\r\n1,a,0\r\n2,"b",1\r\n"3\r\n""x",b,1\n4,"c,""d""",1\r\n5,e,0\r\n'
  lanebloom screen --csv -f key --annotate key-filter rows.csv | head -n 1 >out
  holds out 'id,key,lanebloom\r\n'
  if [[ -x $(command -v python3) ]]; then
    lanebloom screen --csv -f key --annotate=hit key-filter rows.csv | python3 -c '
import csv, io, sys
rows = list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, newline="")))
assert [row["hit"] for row in rows] == ["0", "1", "1", "1", "0"], rows
assert rows[2]["id"] == "3\r\n\"x", rows'
  fi
  printf '1;b\n2;x\n' | lanebloom screen -d ';' -f 2 --annotate key-filter >out
  holds out '1;b;1\n2;x;0\n'
  printf 'k\tv\nb\t1\nx\t2\n' | lanebloom match --tsv -f k --annotate=in keys >out
  holds out 'k\tv\tin\nb\t1\t1\nx\t2\t0\n'
  printf 'b\r\nx\r\n' | lanebloom screen --crlf --annotate key-filter >out
  holds out 'b\t1\r\nx\t0\r\n'
  printf 'b\0\0' | lanebloom screen -z --annotate key-filter >out
  holds out 'b\t1\0\t0\0'
  printf '1\n2,b\n' | lanebloom screen -d , -f 2 --missing=keep --annotate key-filter >out 2>errors
  holds out '1,1\n2,b,1\n'
}

# The input has a line longer than a read, and many short lines.
@test "--annotate and --unmatched, long and short records" {
  lanebloom build -o filter <<<a
  { head -c 3000000 /dev/zero | tr '\0' x; echo; yes '' | head -n 2000000; echo a; } >input
  for jobs in 1 2; do
    lanebloom screen -j $jobs --annotate filter input | cmp - <(sed 's/$/\t0/; $s/0$/1/' input)
    [[ $(lanebloom screen -j $jobs --unmatched rest filter input) == a ]]
    cmp rest <(sed '$d' input)
  done
}

@test "-n --width: a record per line" {
  printf 'b' | lanebloom build --bits 40 -o filter
  printf 'abcb' | lanebloom screen -n --width 1 filter >out
  holds out '2:b\n4:b\n'
}

@test "--summary: on standard error, as text or JSON, or in a file" {
  make_rows
  run -0 --separate-stderr lanebloom screen --csv -f key --summary key-filter rows.csv
  sed 's/[0-9.]* seconds/N seconds/; s/[-0-9.e]* %/N %/' <<<"$stderr" >summary
  expected="lanebloom: 5 records, 3 selected, 0 without a key, 0 inputs failed, N"
  [[ $(<summary) == "$expected seconds, N % of absent keys expected to pass" ]]
  run -0 --separate-stderr lanebloom screen -d , -f 2 --missing=drop --summary=json key-filter \
    <<<$'1\n2,b\n3,x'
  [[ $output == 2,b ]]
  sed '/^lanebloom: 1 of 3/d' <<<"$stderr" >summary
  jq -e '.records == 3 and .selected == 1 and .without_key == 1 and .failed_inputs == 0 and
    .seconds > 0 and .seconds < 100 and .expected_rate > 0 and .expected_rate < 1' summary
  run -2 --separate-stderr lanebloom match --summary=json keys nowhere - <<<b
  jq -e '.records == 1 and .failed_inputs == 1 and .expected_rate == null' <<<"${stderr_lines[1]}"
  lanebloom match --summary-file summary --summary=json -v keys keys rows.csv | wc -l
  jq -e '.records == 9 and .selected == 7' summary
  lanebloom match --summary-file summary keys keys >/dev/null
  grep -qx '2 records, 2 selected, 0 without a key, 0 inputs failed, [0-9.]* seconds' summary
  refuses "--summary: expected text or json, found 'xml'" lanebloom screen --summary=xml filter
}

# says_so FILTER [OPTION]... <input: checks that the summary, as text and as JSON, states that no
# more keys pass than by chance.
says_so() {
  local filter=$1
  shift
  cat >given
  run --separate-stderr lanebloom screen "$@" -c --summary "$filter" given
  [[ $stderr == *" of "*" keys did, no more than chance"* ]] || return 1
  run --separate-stderr lanebloom screen "$@" -c --summary=json "$filter" given
  jq -e '.within_expected_rate == true' <<<"${stderr_lines[-1]}"
}

@test "--summary: whether no more keys pass than false positives would" {
  numbers 1 20000 >present
  numbers 100001 120000 >absent
  { cat absent; head -n 400 present; } >some
  for format in rocksdb-local rocksdb-legacy leveldb parquet spark-v1 dcso; do
    lanebloom build --format $format -o filter present
    says_so filter <absent
    says_so filter -v -j 3 <absent
    run ! says_so filter <some
    run ! says_so filter -v <some
    run ! says_so filter <present
  done
  run ! says_so filter < <(head -n 999 absent) # too few to tell
  says_so filter < <(head -n 1000 absent)
  run ! says_so filter </dev/null
  lanebloom build -o no-key /dev/null # no key should pass, and none does
  says_so no-key <absent
  lanebloom build -o second some
  lanebloom screen -c --summary=json --filter filter --filter second present 2>summary
  jq -e '.within_expected_rate == false' summary
  lanebloom screen -c --summary=json filter <(head -n 999 absent) 2>summary || [[ $? == 1 ]]
  jq -e '.within_expected_rate == null' summary
  awk '{ print NR "," $1; print NR }' absent >rows # half of the rows have no key
  lanebloom screen -d, -f 2 --missing=keep -c --summary=json filter rows 2>summary
  jq -se '.[-1] | .selected > 20000 and .within_expected_rate' < <(sed '/^lanebloom/d' summary)
  lanebloom screen -d, -f 2 --missing=keep -v -c --summary=json filter rows 2>summary
  jq -se '.[-1] | .selected > 39000 and .within_expected_rate' < <(sed '/^lanebloom/d' summary)
  lanebloom match -c --summary=json present present 2>summary # the results are exact
  jq -e '.within_expected_rate == null' summary
}

@test "screen warns if what it selects is no more than chance" {
  numbers 1 20000 >present
  numbers 100001 120000 >absent
  lanebloom build -o filter present
  for options in "" -n -c "-j 3"; do
    run --separate-stderr lanebloom screen $options filter absent
    [[ $stderr =~ ^"lanebloom: warning: "[0-9]+" of 20000 keys passed, no more than chance: " ]]
    [[ $stderr == *"; if some should be there, check -f, --crlf, --trim, --lower, --upper, "* ]]
  done
  lanebloom build --bits 30 -o large present # no absent key passes
  for options in "" -c "-j 3"; do
    run -1 --separate-stderr lanebloom screen $options large absent
    [[ $stderr == "lanebloom: warning: none of 20000 keys passed; if some should be there, "* ]]
  done
  for filter in filter large; do
    for options in -v -q --summary; do # these have no need of a warning
      run --separate-stderr lanebloom screen $options $filter absent
      [[ $stderr != *warning* ]]
    done
    for input in present <(cat present absent) <(head -n 999 absent) /dev/null; do
      run --separate-stderr lanebloom screen $filter "$input"
      [[ -z $stderr ]]
    done
    run -2 --separate-stderr lanebloom screen $filter absent missing
    [[ $stderr != *warning* ]]
  done
}

@test "--summary: what comes after the last selected record does not count" {
  printf 'b,%s\n' {1..1000} >input
  printf 'none,%s\n' {1..1000} >>input
  echo b >keys
  for how in -q:1,1 -m1:1,1 -m7:7,7 -m1000:1000,1000 -m1001:2000,1000; do
    for jobs in -j1 -j3; do
      run -0 --separate-stderr lanebloom match ${how%:*} $jobs -d , -f 1 --summary=json keys input
      [[ $(jq -c '[.records, .selected]' <<<"$stderr") == "[${how#*:}]" ]]
    done
  done
  printf 'b,1\nshort\nb,2\nshort\nb,3\n' >input
  run -0 --separate-stderr lanebloom match -m 2 -d , -f 2 --missing=drop --summary=json \
    <(printf '1\n2\n') input
  [[ $(jq -c '[.records, .selected, .without_key]' <<<"$stderr") == "[3,2,1]" ]]
}

@test "--missing=drop leaves records out of everything, keep selects them" {
  printf '1\n2\tx\n3\ty\n4\n5\tx\n' >input
  echo x >keys
  run -0 --separate-stderr lanebloom match -f 2 --missing=drop -o out --unmatched rest keys input
  holds out '2\tx\n5\tx\n'
  holds rest '3\ty\n'
  [[ $stderr == "lanebloom: 2 of 5 records lack a field of the key: dropped (--missing)" ]]
  lanebloom match -f 2 --missing=drop -v -o out --unmatched rest keys input
  holds out '3\ty\n'
  holds rest '2\tx\n5\tx\n'
  lanebloom match -f 2 --missing=drop --annotate keys input >out
  holds out '2\tx\t1\n3\ty\t0\n5\tx\t1\n'
  lanebloom match -f 2 --missing=drop -m 2 --annotate keys input >out
  holds out '2\tx\t1\n3\ty\t0\n5\tx\t1\n'
  lanebloom match -f 2 --missing=drop -m 1 --unmatched rest -v keys input >out
  holds out '3\ty\n'
  holds rest '2\tx\n'
  lanebloom match -f 2 --missing=keep -o out --unmatched rest keys input
  holds out '1\n2\tx\n4\n5\tx\n'
  holds rest '3\ty\n'
  run --separate-stderr lanebloom match -f 3 --missing=drop keys input
  [[ $stderr == *": dropped (--missing); is -f right?" ]]
}

@test "--annotate: a name that the header has is refused" {
  make_rows
  meant="expected a name that the header does not have, found"
  fails_with "--annotate: $meant 'key'" lanebloom match --csv -f id --annotate=key keys rows.csv
  lanebloom match --csv -f id --annotate=keys keys rows.csv | head -n 1 | grep -q id,key,keys
}

@test "--annotate: a last record without line end gets that of the others" {
  printf 'a\r\nb' >input
  echo b >keys
  for how in "--csv --no-header -f 1" "-d , -f 1 --crlf"; do
    lanebloom match $how --annotate keys input >annotated
    printf 'a,0\r\nb,1\r\n' | cmp - annotated
  done
}

@test "--summary: also when it ends early" {
  make_input
  for options in -q "-m 1" "-m 1 -c" "-j 3 -q"; do
    run -0 --separate-stderr lanebloom screen $options --summary=json filter input
    jq -e '.selected >= 1 and .records >= .selected' <<<"$stderr"
  done
  rate=$(lanebloom info --json filter | jq .model_rate)
  lanebloom build -o other <<<x
  other_rate=$(lanebloom info --json other | jq .model_rate)
  lanebloom screen --filter filter --filter other -q --summary=json input 2>summary
  jq -e --argjson a "$rate" --argjson b "$other_rate" \
    '.expected_rate - (1 - (1 - $a) * (1 - $b)) | fabs < 1e-12' summary
}

@test "all or nothing: after an error the files are as before, and nothing is beside them" {
  make_rows
  mkdir folder
  for option in "-o folder/file" "--unmatched folder/file"; do
    for inputs in "rows.csv nowhere" "rows.csv ." "rows.csv key-filter" "rows.csv keys"; do
      rm -f folder/file
      run -2 lanebloom screen --csv -f key $option key-filter $inputs
      [[ -z $(ls -A folder) ]]
      echo old >folder/file
      run -2 lanebloom screen --csv -f key $option key-filter $inputs
      [[ $(ls -A folder) == file && $(<folder/file) == old ]]
    done
  done
  (ulimit -f 1 && exec "$LANEBLOOM" screen -o folder/file -v key-filter <(numbers 1 9999)) \
    2>errors || [[ $? -eq 2 ]]
  [[ $(<errors) == "lanebloom: folder/file: File too large" ]]
  [[ $(ls -A folder) == file && $(<folder/file) == old ]]
  for closed in "-o folder/file" "--unmatched folder/file"; do # the reader exits early
    run bash -c "trap '' PIPE; '$LANEBLOOM' screen -v --unmatched folder/file key-filter \
      <(seq 1000000) | head -n 1"
    [[ $(ls -A folder) == file && $(<folder/file) == old ]]
  done
}

@test "permissions and links are kept" {
  make_rows
  echo old >file
  chmod 640 file
  ln -s file link
  lanebloom match -o link keys keys
  cmp file keys
  [[ -L link && $(stat -c %a file) == 640 ]]
  mkfifo pipe
  cat pipe >from-pipe &
  lanebloom match -o pipe keys keys
  wait $!
  cmp from-pipe keys
  [[ -p pipe ]]
}

@test "what is read is not written, and each file is written once" {
  make_rows
  cp keys in
  mkdir folder
  also="input file is also the output"
  for option in -o --unmatched --summary-file; do
    fails_with "in: $also" lanebloom screen $option in key-filter in
    fails_with "key-filter: $also" lanebloom screen $option key-filter key-filter in
    fails_with "keys: $also" lanebloom match $option keys keys in
    fails_with "folder: Is a directory" lanebloom match $option folder keys in
    fails_with "nowhere/x: No such file or directory" lanebloom match $option nowhere/x keys in
  done
  cmp in keys
  one="expected a file for each kind of output"
  fails_with "in: $one" lanebloom match -o in --unmatched in keys rows.csv
  fails_with "folder/../new: $one" lanebloom match -o new --unmatched folder/../new keys in
  fails_with "new: $one" lanebloom match -o new --summary-file new keys in
  fails_with ": $one" lanebloom match --unmatched - keys in
  run -2 bash -c "'$LANEBLOOM' match --unmatched out keys rows.csv >out"
  [[ ! -s out && ! -e new ]]
}

@test "options that do not go together" {
  for option in -c -q -n --which "--unmatched x" "--width 3"; do
    refuses "give only one of --annotate" lanebloom screen --annotate $option filter
  done
  for option in -c -q; do
    refuses "give only one of --output, --count and --quiet" lanebloom match -o x $option keys
  done
  refuses "give only one of --unmatched and --quiet" lanebloom match -q --unmatched x keys
  for name in a,b $'a\tb' 'a"b' $'a\nb'; do
    refuses "--annotate: expected a name without separators and quotes" \
      lanebloom screen --annotate="$name" filter
  done
}

@test "one file of output that cannot be written leaves the others as they were" {
  seq 100 >input
  lanebloom build -o f.lbf input
  echo old >out
  echo old >rest
  run lanebloom screen -o out --unmatched rest --summary-file /dev/full f.lbf input
  [ "$status" = 2 ]
  [[ $(<out) = old && $(<rest) = old ]]
}

@test "the records before a fault are printed, and may be enough" {
  seq 10 | lanebloom build -o f.lbf
  printf 'a\t5\nb\t5\nc\n' >input
  lanebloom screen -f 2 -m 1 f.lbf input >out
  [ "$(<out)" = "a	5" ]
  lanebloom screen -f 2 -q f.lbf input
  run lanebloom screen -f 2 f.lbf input
  [ "$status" = 2 ]
  [[ $output == *"b	5"*"line 3: expected field 2, found 1 field"* ]]
}

@test "the name of --annotate does not contain the separator" {
  seq 10 | lanebloom build -o f.lbf
  printf 'x|y\n5|6\n' >input
  run lanebloom screen --csv -d '|' -f 1 --annotate='a|b' f.lbf input
  [ "$status" = 2 ]
  [[ $output == *"expected a name without the separator, found 'a|b'"* ]]
}
