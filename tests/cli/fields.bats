# Fields: which part of a record is its key.
# SPDX-License-Identifier: MIT
load helper

# keys_are 'KEY\n...' OPTIONS... <input: checks that these lines are the keys of the records
keys_are() {
  local keys=$1
  shift
  diff <(hashes "$@") <(printf "$keys" | hashes)
}

users() {
  printf 'alice\nbob\n' | lanebloom build -o users.lbf
}

@test "-f N is what cut prints, with a tab or with -d" {
  printf '1\tann\tx\n2\tbob\ty\n\t\t\n' >input
  for n in 1 2 3; do
    diff <(hashes -f $n input) <(cut -f $n input | hashes)
  done
  tr '\t' ':' <input >colons
  diff <(hashes -d : -f 2 colons) <(cut -d : -f 2 colons | hashes)
  diff <(hashes -d '\t' -f 2 input) <(cut -f 2 input | hashes)
}

@test "several fields are joined by a tab, in the order of -f" {
  printf 'a,b,c\n' >input
  keys_are 'a\tc\n' -d , -f 1,3 input
  keys_are 'c\ta\n' -d , -f 3,1 input
  keys_are 'c\ta\n' -d , -f 3 -f 1 input
  keys_are 'a\tb\tc\n' -d , -f 1-3 input
  keys_are 'b\tc\ta\n' -d , -f 2-3,1 input
}

@test "a filter of a CSV fits the same rows as TSV" {
  printf 'id,name\n1,ann\n2,"b,o"\n' >rows.csv
  printf 'name\tid\nann\t1\nb,o\t2\n' >rows.tsv
  lanebloom build --csv -f id,name -o rows.lbf rows.csv
  [[ $(lanebloom screen -c --tsv -f id,name rows.lbf rows.tsv) -eq 2 ]]
}

@test "CSV: quotes around separators, line ends, quotes and nothing" {
  printf 'a,"b,c",d\n"two\nlines","x ""y""",""\n"""",,"\r\n"\n' >input
  keys_are 'b,c\nx "y"\n\n' --csv --no-header -f 2 input
  keys_are 'd\n\n' --csv --no-header -f 3 <(head -n 3 input)
  [[ $(hashes --csv --no-header -f 1 input | tail -n 1) == $(printf '"\n' | hashes) ]]
  [[ $(hashes --csv --no-header -f 1 input | wc -l) -eq 3 ]]
}

@test "records come out as they came in, byte for byte" {
  users
  printf 'id,name,note\r\n1,alice,"a\r\nb"\r\n2,"bob",""\r\n3,carol,x\r\n4,"alice","no end"' >input
  lanebloom screen --csv -f name users.lbf input >output
  printf 'id,name,note\r\n1,alice,"a\r\nb"\r\n2,"bob",""\r\n4,"alice","no end"\r\n' | cmp - output
  lanebloom screen --csv -f name -v users.lbf input >output
  printf 'id,name,note\r\n3,carol,x\r\n' | cmp - output
  lanebloom screen --csv -f name -n users.lbf input >output
  printf 'id,name,note\r\n1:1,alice,"a\r\nb"\r\n2:2,"bob",""\r\n4:4,"alice","no end"\r\n' |
    cmp - output
}

@test "the header is printed once and never counted" {
  users
  printf 'name\nalice\ncarol\n' >a
  printf 'name\r\nbob\r\n' >b
  lanebloom screen --csv -f name users.lbf a b >output
  holds output 'name\nalice\nbob\r\n'
  [[ $(lanebloom screen --csv -f name -c users.lbf a b) -eq 2 ]]
  run lanebloom screen --csv -f name -q users.lbf a b
  [[ $status -eq 0 && -z $output ]]
  lanebloom build --csv -f 1 -o filter a b
  [[ $(lanebloom info --json filter | jq .keys) -eq 3 ]]
  printf 'name\n' >only
  run -1 lanebloom screen --csv -f name users.lbf only only
  [[ $output == name ]]
  [[ $(printf 'name' | lanebloom screen --tsv -f 1 users.lbf only - || true) == name ]]
}

@test "an empty input where a header is expected is an error, and replaces no filter" {
  users
  cp users.lbf before.lbf
  fails_with "(standard input): expected a header, found an empty input" \
    lanebloom build --csv -f name -o users.lbf </dev/null
  cmp users.lbf before.lbf
  fails_with "/dev/null: expected a header, found an empty input" \
    lanebloom screen --tsv -f 1 users.lbf /dev/null
  run -1 lanebloom screen --csv --no-header -f 1 users.lbf /dev/null
  fails_with "expected field 3 in the header, found 2 fields" \
    lanebloom screen --csv -f 3 --missing=keep users.lbf <(printf 'a,b\n1,2\n')
}

@test "build --rate, which reads twice, says once what is missing" {
  printf 'id,name\n1,ann\n2\n' >input
  run --separate-stderr lanebloom build --rate 1% --csv -f name --missing=drop -o filter input
  [[ $status -eq 0 && ${#stderr_lines[@]} -eq 1 ]]
}

@test "a header of another input must be the same" {
  users
  printf 'id,name\n1,alice\n' >a
  printf 'name,id\nbob,2\n' >b
  run -2 --separate-stderr lanebloom screen --csv -f name users.lbf a b a
  [[ $stderr == "lanebloom: b: expected the header of the first input, id,name, found name,id" ]]
  [[ $output == $'id,name\n1,alice\n1,alice' ]]
}

@test "names are found in a header with quotes, a byte order mark, and commas" {
  printf '\xef\xbb\xbf"user ""id""","last, first",2\n7,ann,x\n' >input
  keys_are '7\n' --csv -f '"user ""id"""' input
  keys_are 'ann\n' --csv -f '"last, first"' input
  keys_are 'x\n' --csv -f '"2"' input
  keys_are 'ann\n' --csv -f 2 input
  printf '\xef\xbb\xbfx,y\nz,y\n' >input
  keys_are 'x\nz\n' --csv --no-header -f 1 input
  keys_are '\xef\xbb\xbfx\nz\n' -d , -f 1 input
  fails_with "expected a field 'user' in the header, found x,y" \
    lanebloom hash --csv -f user <(printf 'x,y\n')
  fails_with "expected one field 'x' in the header, found fields 1 and 3; give a number" \
    lanebloom hash --csv -f x <(printf 'x,y,x\n')
  fails_with "expected each field once, found field 1 twice" \
    lanebloom hash --csv -f x,1 <(printf 'x,y\n')
}

@test "a missing field fails, with file and line; or the record is kept or dropped, and counted" {
  users
  printf 'id,name\n1,alice\n"2\n\n",bob\n3\n4,carol\n' >input
  fails_with "input: line 6: expected field 2 'name', found 1 field; see --missing" \
    lanebloom build -o new.lbf --csv -f name input
  for verb in "screen users.lbf" "hash"; do
    run -2 --separate-stderr lanebloom $verb --csv -f name input
    [[ $stderr == \
      "lanebloom: input: line 6: expected field 2 'name', found 1 field; see --missing" ]]
  done
  [[ ! -e new.lbf ]]
  run -0 --separate-stderr lanebloom screen users.lbf --csv -f name --missing=keep input
  [[ $output == $'id,name\n1,alice\n"2\n\n",bob\n3' ]]
  [[ $stderr == "lanebloom: 1 of 4 records lack a field of the key: kept (--missing)" ]]
  run -0 --separate-stderr lanebloom screen users.lbf --csv -f name --missing=drop -v input
  [[ $output == $'id,name\n4,carol' ]]
  [[ $stderr == "lanebloom: 1 of 4 records lack a field of the key: dropped (--missing)" ]]
  [[ $(lanebloom screen users.lbf --csv -f name --missing=keep -v -c input) -eq 2 ]]
  [[ $(lanebloom screen users.lbf --csv -f name --missing=drop -c input) -eq 2 ]]
  lanebloom build -o new.lbf --csv -f name --missing=drop input
  [[ $(lanebloom info --json new.lbf | jq .keys) -eq 3 ]]
  lanebloom build --force --expected 100 -o new.lbf </dev/null
  lanebloom add --csv -f name --missing=drop new.lbf input
  [[ $(lanebloom info --json new.lbf | jq .keys) -eq 3 ]]
  [[ $(lanebloom hash --csv -f name --missing=drop input | wc -l) -eq 5 ]]
  printf '3\n x , 4\n' >input
  fails_with "input: line 1: expected field 2, found 1 field" \
    lanebloom build --trim -d , -f 2,1 -o other.lbf input
  [[ $(lanebloom hash --trim -d , -f 2,1 --missing=drop input 2>&- | tail -n 1 | cut -f 1) == \
    $(printf '4\tx\n' | lanebloom hash | cut -f 1) ]]
}

@test "quotes that RFC 4180 does not allow are refused, with file and line" {
  users
  local at="lanebloom screen --csv --no-header -f 1 users.lbf"
  printf 'a,b\n"x\n",a"b\n' >input
  fails_with "input: line 2: field 2: expected quotes around the whole field, found one inside" \
    $at input
  printf 'a,b\n"x" ,y\n' >input
  fails_with "input: line 2: field 1: expected a separator after the closing quote, found more" \
    $at input
  printf 'a,b\nc,"d\ne,f\n' >input
  fails_with "input: line 2: field 2: expected a closing quote, found the end of the input" \
    $at input
  printf 'a,"b\nc,d\n' >input
  fails_with "header, field 2: expected quotes around the whole field, found some inside it or" \
    lanebloom screen --csv -f 1 users.lbf input
  printf 'a,b"\n' >input
  keys_are 'b"\n' -d , -f 2 input
}

@test "carriage returns alone are no line ends: refused, as KEYS and as INPUT" {
  numbers 1 5 >keys
  lanebloom build -o filter keys
  printf 'id,n\rkey-00000001,1\rkey-00000002,2\r' >mac.csv
  printf 'id,n\r\r\nkey-00000001,1\r\r\n' >twice.csv
  printf 'id\tn\rkey-00000001\t1\r' >mac.tsv
  for file in mac.csv twice.csv mac.tsv; do
    expected="$file: expected lines that end in LF or in CR LF, found a carriage return"
    fails_with "$expected" lanebloom screen --${file#*.} -f id filter $file
    fails_with "$expected" lanebloom screen --${file#*.} --no-header -f 2 filter $file
    fails_with "$expected" lanebloom build --${file#*.} -f id -o other $file
    [[ $file == mac.tsv ]] ||
      fails_with "$expected" lanebloom match --keys-csv --keys-field id $file keys
    [[ ! -e other ]]
  done
  { printf 'PK\3\4\r'; cat mac.csv; } >x.zip # an archive is recognised before its first line ends
  fails_with "found a zip archive" lanebloom match --keys-csv --keys-field id x.zip keys
  printf 'id,n\r\nkey-00000001,"a\rb"\r\n' >quoted.csv
  [[ $(lanebloom screen --csv -f id -c filter quoted.csv) == 1 ]]
}

@test "a stray quote is found in a little memory, and while a pipe is open" {
  users
  { printf 'id,name\n1,5" disk\n'; yes '2,alice' | head -n 4000000; } >input
  local fault="lanebloom: input: line 2: field 2: expected quotes around the whole field, found one"
  run -2 --separate-stderr lanebloom screen -j 1 --csv -f name users.lbf input
  [[ $stderr == "$fault"* ]]
  if address_space_can_be_limited; then
    run -2 --separate-stderr bash -c \
      "ulimit -v 40000; exec '$LANEBLOOM' screen -j 1 --csv -f name users.lbf input"
    [[ $stderr == "$fault"* ]]
  fi
  mkfifo pipe
  { head -n 300000 input; sleep 20; } >pipe &
  local writer=$!
  run -2 --separate-stderr timeout 10 "$LANEBLOOM" screen -j 1 --csv -f name users.lbf pipe
  [[ $stderr == "lanebloom: pipe: line 2: field 2"* ]]
  kill $writer 2>/dev/null || true # the writer may have ended when the pipe was closed
  printf 'i"d,name\n1,a\n' >input
  fails_with "input: header, field 1: expected quotes around the whole field, found some" \
    lanebloom screen --csv -f 1 users.lbf input
  printf 'a\tb\0c\0' >input
  fails_with "input: record 2: expected field 2" lanebloom screen -z -f 2 users.lbf input
}

@test "options that contradict each other are refused" {
  users
  refuses "expected -f FIELDS" lanebloom screen --csv users.lbf
  refuses "expected -f FIELDS" lanebloom screen -d , users.lbf
  refuses "one of --width and -f" lanebloom screen --width 4 -f 1 users.lbf
  refuses "one of --null and --csv, --tsv or --jsonl" lanebloom screen -z --csv -f 1 users.lbf
  refuses "one of --csv, --tsv and --jsonl" lanebloom screen --csv --tsv -f 1 users.lbf
  refuses "one of --tsv and -d" lanebloom screen --tsv -d , -f 1 users.lbf
  refuses "--no-header needs --csv or --tsv" lanebloom screen --no-header -f 1 users.lbf
  refuses "found the name 'id'" lanebloom screen -f id users.lbf
  refuses "found the name 'id'" lanebloom screen --csv --no-header -f id users.lbf
  refuses "found '0'" lanebloom screen -f 0 users.lbf
  refuses "found '3-2'" lanebloom screen -f 3-2 users.lbf
  refuses "found '1-'" lanebloom screen -f 1- users.lbf
  refuses "found field 1 twice" lanebloom screen -f 1,2,1 users.lbf
  refuses "found 'a' twice" lanebloom screen --csv -f a,a users.lbf
  refuses "at most 64 fields" lanebloom screen -f 1-65 users.lbf
  refuses "found nothing" lanebloom screen -f 1, users.lbf
  refuses "expected quotes around a whole name" lanebloom screen --csv -f '"a' users.lbf
  refuses "expected one byte" lanebloom screen -d ab -f 1 users.lbf
  refuses "expected one byte" lanebloom screen -d '"' -f 1 users.lbf
  refuses "expected fail, keep or drop" lanebloom screen --missing=skip -f 1 users.lbf
  refuses "expected fail or drop" lanebloom build --missing=keep -f 1 -o x
  refuses "expected fail or drop" lanebloom add --missing=keep -f 1 users.lbf
  refuses "expected fail or drop" lanebloom hash --missing=keep -f 1
  refuses "--which needs --missing=fail" lanebloom screen --db . --which --missing=drop -f 1
}

@test "NUL-terminated records have fields, too" {
  printf 'a\tb\nc\0d\te\0' >input
  [[ $(hashes -z -f 2 input) == $(printf 'b\nc\0e\0' | hashes -z) ]]
}

@test "a record of many reads is one record" {
  users
  {
    printf 'id,name,note\n1,alice,"'
    yes 'line, of "" text' | head -n 180000
    printf '"\n2,bob,\n'
  } >input
  lanebloom screen --csv -f name users.lbf input | cmp - input
  cat input | lanebloom screen --csv -f name users.lbf | cmp - input
  [[ $(lanebloom screen --csv -f name -c users.lbf input) -eq 2 ]]
}

# Compares with Python's csv module on rows with every kind of quoting. The keys and the selected
# records must be the same.
compare_with_python() { # NROWS SEED
  python3 - "$@" <<'END'
import csv, io, random, sys
nrows, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
pieces = ["a", "b c", ",", '"', "\n", "\r\n", "\t", ";", "", "é", "x" * 70, "0", " "]
def field():
    return "".join(rng.choices(pieces, k=rng.choice([0, 1, 1, 2, 3, 9])))
rows = [[field() for _ in range(4)] for _ in range(nrows)]
with open("rows.csv", "w", newline="", encoding="utf-8") as out:
    for row in rows:
        style = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        csv.writer(out, quoting=style, lineterminator=rng.choice(["\n", "\r\n"])).writerow(row)
with open("rows.csv", newline="", encoding="utf-8") as back, open("keys", "wb") as keys:
    read = list(csv.reader(back))
    assert read == rows, "Python does not read what it wrote"
    for row in read:
        keys.write("\t".join([row[2], row[0]]).encode() + b"\0")
END
}

@test "the keys of generated rows are those that Python's csv module reads" {
  n=20000
  ! exhaustive || n=1000000
  compare_with_python "$n" 7
  lanebloom build -z -o python.lbf keys
  lanebloom build --csv --no-header -f 3,1 -o ours.lbf rows.csv
  cmp -i 64 python.lbf ours.lbf # the headers differ: keys of several fields have another form
  lanebloom screen --csv --no-header -f 3,1 ours.lbf rows.csv | cmp - rows.csv
  cat rows.csv | lanebloom build -j 3 --csv --no-header -f 3,1 -o ours.lbf
  cmp -i 64 python.lbf ours.lbf
  head -n 100 keys | tr '\n' x | head -z -n 20 | lanebloom build -z --raw -o few
  lanebloom screen -j 1 --csv --no-header -f 3,1 --raw --format rocksdb few rows.csv >one
  lanebloom screen -j 3 --csv --no-header -f 3,1 --raw --format rocksdb few rows.csv | cmp - one
}

# DuckDB accepts one kind of line end per file, and reads an empty field as NULL.
@test "the keys of generated rows are those that DuckDB reads" {
  python3 -c 'import duckdb' 2>"$BATS_TEST_TMPDIR/why" || skip "python3 has no module duckdb"
  n=20000
  ! exhaustive || n=1000000
  python3 - "$n" 8 <<'END'
import csv, duckdb, random, sys
nrows, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
pieces = ["a", "b c", ",", '"', "\n", "\t", ";", "", "é", "x" * 70, "0", " "]
def field():
    return "".join(rng.choices(pieces, k=rng.choice([0, 1, 1, 2, 3, 9])))
with open("rows.csv", "w", newline="", encoding="utf-8") as out:
    for _ in range(nrows):
        style = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        writer = csv.writer(out, quoting=style, lineterminator="\n")
        writer.writerow([field() for _ in range(4)])
rows = duckdb.sql("""select coalesce(c, ''), coalesce(a, '')
    from read_csv('rows.csv', auto_detect = false, header = false,
    columns = {'a': 'varchar', 'b': 'varchar', 'c': 'varchar', 'd': 'varchar'},
    delim = ',', quote = '"', escape = '"', parallel = false)""")
with open("keys", "wb") as keys:
    for c, a in rows.fetchall():
        keys.write(f"{c}\t{a}\0".encode())
END
  [ "$(tr -dc '\0' <keys | wc -c)" -eq "$n" ]
  lanebloom build -z -o duckdb.lbf keys
  lanebloom build --csv --no-header -f 3,1 -o ours.lbf rows.csv
  cmp -i 64 duckdb.lbf ours.lbf
}

@test "a name that the header lacks: the message has the nearest one" {
  printf 'id,User_Name,"x, y",\xc3\xa4\x1b,id2\n1,2,3,4,5\n' >input
  for name in user_name usr_name Usr_Nam User_Names; do
    fails_with "; did you mean 'User_Name'?" \
      lanebloom hash --csv -f $name input
  done
  fails_with "; did you mean 'x, y'?" lanebloom hash --csv -f '"x,y"' input
  fails_with "; did you mean 'ä\\033'?" lanebloom hash --csv -f 'äx' input
  fails_with "; did you mean 'id'?" lanebloom hash --csv -f ID input
  fails_with "; did you mean 'User_Name'?" \
    lanebloom match --keys-csv --keys-field username input
  for name in user other; do
    fails_with "expected a field '$name' in the header" lanebloom hash --csv -f $name input
    [[ $stderr != *"did you mean"* ]]
  done
}

@test "a header of one field that shows another separator: the message says so" {
  for separator in ';' '|'; do
    printf "id${separator}user\n1${separator}2\n" >input
    for dialect in csv tsv; do
      for list in user 2; do
        fails_with "; is the separator '$separator'? (--csv --delimiter '$separator')" \
          lanebloom hash --$dialect -f $list input
        fails_with "; is the separator '$separator'? (--keys-csv --keys-delimiter '$separator')" \
          lanebloom match --keys-$dialect --keys-field $list input
      done
    done
    lanebloom hash --csv --delimiter "$separator" -f user input
  done
  printf 'id\tuser\n1\t2\n' >input
  fails_with "; is the separator a tab? (--tsv)" lanebloom hash --csv -f user input
  fails_with "; is the separator a tab? (--keys-tsv)" \
    lanebloom match --keys-csv --keys-field 2 input
  printf 'id,user\n1,2\n' >input
  fails_with "; is the separator a comma? (--csv)" lanebloom hash --tsv -f user input
  printf 'a;b,c\n1,2\n' >input
  fails_with "found a;b,c" lanebloom hash --csv -f user input
  [[ $stderr != *separator* ]]
  printf 'a"b\n' >input
  fails_with "is the separator right? (--delimiter)" lanebloom hash --csv -f a input
  fails_with "is the separator right? (--keys-delimiter)" \
    lanebloom match --keys-csv --keys-field a input
}

@test "-f with the name of a file: files are named without it" {
  seq 3 >keys.txt
  lanebloom build -o f.lbf keys.txt
  refuses "which is a file: files are named without -f, as in \`lanebloom match keys.txt'" \
    lanebloom match -f keys.txt keys.txt
  refuses "as in \`lanebloom screen f.lbf'" lanebloom screen -f f.lbf keys.txt
  refuses "names need a header" lanebloom screen -f f.lb f.lbf keys.txt
}
