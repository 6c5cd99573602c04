# --jsonl: the key consists of members of a line of JSON.
# SPDX-License-Identifier: MIT
load helper

needs_json() {
  run lanebloom hash --jsonl -f a /dev/null
  [[ $output != *"without simdjson"* ]] || skip "this build has no simdjson"
}

# keys_are 'KEY\n...' LIST 'LINE\n...': checks that the members of the lines that LIST names are
# these keys
keys_are() {
  printf '%b' "$3" >lines
  diff <(hashes --jsonl -f "$2" lines) <(printf '%b' "$1" | hashes)
}

# not_json FOUND LINE: checks that the line is refused, and so is a line that contains it
not_json() {
  printf '{"a":1}\n%b\n{"a":2}\n' "$2" >lines
  run -2 --separate-stderr lanebloom hash --jsonl -f a lines
  [[ $stderr == "lanebloom: lines: line 2: expected a JSON value, found $1" ]] ||
    { echo "$2: $stderr"; return 1; }
}

@test "the key of a string is its text, of a number, true or false what stands there" {
  needs_json
  keys_are 'ann\n\nb"\\/\b\f\r\tc\nd\xc3\xa9\xf0\x9f\x98\x80\n' user \
    '{"user":"ann"}\n{"user":""}\n{"user":"b\\"\\\\\\/\\b\\f\\r\\tc"}'\
'\n{"user":"d\\u00e9\\ud83d\\ude00"}\n'
  keys_are '1\n1.50\n-0\n1E+999\n123456789012345678901234567890\ntrue\nfalse\n' n \
    '{"n":1}\n{"n":1.50 }\n{"n":-0}\n{"n":1E+999}\n'\
'{"n":123456789012345678901234567890}\n{"n":true}\n{ "n" : false }\n'
}

@test "JSON pointers, names like numbers, names with commas and escapes" {
  needs_json
  keys_are 'x\n' /a/b '{"b":"y","a":{"c":{"b":"z"},"b":"x"}}\n'
  keys_are 'x\n' /a/1/0 '{"a":["u",["x"],"z"]}\n'
  keys_are 'x\n' /a/0 '{"a":{"0":"x"}}\n'
  keys_are 'x\n' /0 '["x"]\n'
  keys_are 'x\n' /~0a~1b '{"~0a~1b":"y","~a/b":"x"}\n'
  keys_are 'x\n' a/b '{"a":{"b":"y"},"a/b":"x"}\n'
  keys_are 'x\n' / '{"":"x"}\n'
  keys_are 'x\n' 1 '{"1":"x"}\n'
  keys_are 'x\n' 1-3 '{"1-3":"x"}\n'
  keys_are 'x\n' '"a,b"' '{"a,b":"x"}\n'
  keys_are 'x\n' é '{"\\u00e9":"x"}\n'
  for list in /a/01 /a/- /a/2 /a/18446744073709551616 /a/0/0; do
    run -2 --separate-stderr lanebloom hash --jsonl -f $list <(printf '{"a":[1,2]}\n')
    [[ $stderr == *"line 1: member '$list': expected "*", found none"* ]]
  done
}

@test "several members are joined by a tab, as the fields of a CSV" {
  needs_json
  keys_are 'b\ta\n' y,x '{"x":"a","y":"b"}\n'
  keys_are '2\tq"\ttrue\n' /o/1,s,t '{"t":true,"s":"q\\"","o":[1,2]}\n'
  printf 'id,name\n1,ann\n2,"b,o"\n' | lanebloom build --csv -f id,name -o rows.lbf
  printf '{"name":"ann","id":1}\n{"id":2,"name":"b,o"}\n{"id":1,"name":"x"}\n' >input
  [[ $(lanebloom screen -c --jsonl -f id,name rows.lbf input) -eq 2 ]]
}

@test "of members with the same name the last one counts" {
  needs_json
  keys_are 'z\n' a '{"a":"x","a":"y","a":"z"}\n'
  keys_are 'z\n' /a/b '{"a":{"b":"x"},"a":{"b":"z"}}\n'
  fails_with "member '/a/b': expected a string, a number, true or false, found none" \
    lanebloom hash --jsonl -f /a/b <(printf '{"a":{"b":"x"},"a":{"c":1}}\n')
}

@test "records come out as they came in; a filter, a list and the verbs agree" {
  needs_json
  printf 'ann\nb\xc3\xb6b\n' >users
  lanebloom build -o users.lbf users
  printf ' {"user":"ann" , "x":[1,{}]}\t\r\n{"user":"carol"}\n{"user":"b\\u00f6b"}' >input
  printf ' {"user":"ann" , "x":[1,{}]}\t\r\n{"user":"b\\u00f6b"}\n' >expected
  lanebloom screen --jsonl -f user users.lbf input | cmp - expected
  lanebloom screen --jsonl --crlf -f user users.lbf input | cmp - expected
  lanebloom match --jsonl -f user users input | cmp - expected
  cat input | lanebloom match -j 3 --jsonl -f /user users | cmp - expected
  [[ $(lanebloom match --jsonl -f user -v users input) == '{"user":"carol"}' ]]
  lanebloom build --jsonl -f user --expected 10 -o json.lbf expected
  lanebloom build --expected 10 -o lines.lbf users
  cmp json.lbf lines.lbf
  lanebloom add --jsonl -f user json.lbf input
  echo carol | lanebloom add lines.lbf
  [[ $(echo carol | lanebloom screen json.lbf) == carol ]]
  printf '\xef\xbb\xbf{"user":"ann"}\n' | lanebloom match --jsonl -f user -c users
  run -1 lanebloom match --jsonl -f user users /dev/null
  [[ -z $output ]]
}

@test "a lone surrogate in what is not asked for changes nothing" {
  needs_json
  keys_are 'x\ny\nz\n' a '{"b":"\\ud800","a":"x"}\n{"\\udfff":1,"a":"y"}\n'\
'{"b":[{"\\ud800":"\\udc00\\ud800"}],"a":"z"}\n'
}

@test "members are decoded, trimmed and lower-cased before they are keys" {
  needs_json
  printf '{"id":"6A6B"}\n{"id":" 6c\\u0036d "}\n' >input
  diff <(lanebloom hash --jsonl -f id --decode hex --trim input | cut -f 1) \
    <(printf 'jk\nlm\n' | lanebloom hash | cut -f 1)
  printf '{"a":" X ","b":"Y\\t"}\n' >input
  diff <(lanebloom hash --jsonl -f a,b --lower --trim input | cut -f 1) \
    <(printf 'x\ty\n' | lanebloom hash | cut -f 1)
  printf '{"id":"6a"}\n{"id":"6x"}\n' >input
  run -2 --separate-stderr lanebloom hash --jsonl -f id --decode hex input
  [[ $stderr == "lanebloom: input: line 2: column 9: "* ]]
}

@test "what has no key fails, with file, line and what was found; or is kept or dropped" {
  needs_json
  local found line
  while IFS='|' read -r found line; do
    printf '{"a":"x"}\n%s\n' "$line" >input
    fails_with "input: line 2: member 'a': expected a string, a number, true or false, found \
$found; see --missing" lanebloom build --jsonl -f a -o new.lbf input
    [[ ! -e new.lbf ]]
  done <<'END'
null|{"a":null}
an object|{"a":{"a":1}}
an array|{"a":[]}
a lone surrogate|{"a":"x\ud83d"}
none|{}
none|{"b":{"a":1}}
none|["a"]
none|"a"
none|42
none|null
an empty line|
an empty line|   
END
  echo x >keys
  printf '{"a":"x"}\n{"a":null}\n\n{"b":1}\n{"a":"y"}\n' >input
  run -0 --separate-stderr lanebloom match --jsonl -f a --missing=keep keys input
  [[ $output == $'{"a":"x"}\n{"a":null}\n\n{"b":1}' ]]
  [[ $stderr == "lanebloom: 3 of 5 records lack a field of the key: kept (--missing)" ]]
  run -0 --separate-stderr lanebloom match --jsonl -f a --missing=drop -v keys input
  [[ $output == '{"a":"y"}' && $stderr == *"3 of 5 records"*"dropped"* ]]
}

@test "a fault ends the command with status 2 while other threads still parse" {
  needs_json
  echo x >keys
  { printf '{"a":"\xff"}\n'; yes '{"a":"x"}' | head -n 100000 || true; } >input
  for i in {1..20}; do
    fails_with "input: line 1: expected a JSON value" \
      without_input "$LANEBLOOM" match --jsonl -f a -j 4 -c keys input
  done
}

@test "a plain name is a member, never an index" {
  needs_json
  echo true >keys
  printf '["true"]\n{"0":"true"}\n' >input
  [[ $(lanebloom match --jsonl -f 0 --missing=drop keys input 2>&-) == '{"0":"true"}' ]]
  [[ $(lanebloom match --jsonl -f /0 keys input | wc -l) == 2 ]]
}

@test "a line that is not JSON is refused, with file, line and what was found" {
  needs_json
  local fit="a quote, comma, colon or bracket that is missing or misplaced" line
  for line in '{' '{"a":1' '{"a" 1}' '{"a":1,}' '{,}' '[1 2]' '{a:1}' '{"a":[1}' \
    '[[]' '[[],{}, ' '[1, ' '{"a": ' '[' '{"a":"b"c}' '[1,]' \
    '{"a":1 "b":2}' '{"a":}' '{"b":{"c":[1}}' '{1:2}' '["a":true},1]' '{"x":["a":},false]}' \
    '{"a":null,"b":"c":{}}}' '["a":garbage},1]'; do
    not_json "$fit" "$line"
  done
  for line in '{"a":1}}' '{"a":1}x' '1 2' '"a" 1' '{"a":1}{"a":2}' '[],'; do
    not_json "more text after it" "$line"
  done
  for line in nul '{"a":tru}' '{"a":1,"b":True}' '{"b":nulll}' '{"a":falsey}'; do
    not_json "a word without quotes" "$line"
  done
  for line in 01 - 1. '{"a":1,"b":[.5]}' '{"b":1e}' '{"b":1e+}' '{"b":0x1}' '{"a":1\0}' '-01'; do
    not_json "a number that is not JSON" "$line"
  done
  for line in '{"a":"\\x"}' '{"a":1,"b":"\\ud800\\x"}' '{"\\q":1}' '{"b":["\\u12"]}'; do
    not_json "an escape that is not JSON" "$line"
  done
  not_json "a string without a closing quote" '{"a":"b}'
  not_json "a control character in a string" '{"b":"\x01"}'
  not_json "bytes that are not UTF-8" '{"b":"\xff"}'
  printf '%0512d' 0 | tr 0 '[' >deep
  { cat deep; tr '[' ']' <deep; echo; } >lines
  fails_with "found none" lanebloom hash --jsonl -f a lines
  if [[ -z ${SANITIZERS-} ]]; then # a sanitizer's stack frames do not fit into a worker's stack
    yes "$(<lines)" | head -n 4000 >many
    run -0 --separate-stderr lanebloom build -j 4 --jsonl -f a --missing=drop -o none.lbf many
    [[ $stderr == *"4000 of 4000 records"* ]]
  fi
  { printf '['; cat deep; tr '[' ']' <deep; echo ']'; } >lines
  fails_with "line 1: expected a JSON value, found more than 512 objects or arrays" \
    lanebloom hash --jsonl -f a lines
  seq -f '{"a":%.0f}' 100000 >many
  { cat many; echo '{"a"'; cat many; } >lines
  run -2 --separate-stderr lanebloom build -j 3 --jsonl -f a -o new.lbf lines
  [[ $stderr == "lanebloom: lines: line 100001: expected a JSON value, found $fit" ]]
  [[ ! -e new.lbf ]]
}

@test "options that contradict each other are refused" {
  needs_json
  refuses "expected -f FIELDS" lanebloom hash --jsonl
  refuses "one of --csv, --tsv and --jsonl" lanebloom hash --csv --jsonl -f a
  refuses "one of --csv, --tsv and --jsonl" lanebloom hash --jsonl --tsv -f a
  refuses "one of --jsonl and -d" lanebloom hash --jsonl -d , -f a
  refuses "one of --jsonl and --no-header" lanebloom hash --jsonl --no-header -f a
  refuses "one of --width and -f" lanebloom hash --jsonl --width 4 -f a
  refuses "one of --null and --csv, --tsv or --jsonl" lanebloom hash -z --jsonl -f a
  refuses "found '/a' twice" lanebloom hash --jsonl -f a,/a
  refuses "found 'a~b' twice" lanebloom hash -f /a~0b,a~b --jsonl
  refuses "expected ~0 for ~ and ~1 for /" lanebloom hash --jsonl -f /a~2
  refuses "expected ~0 for ~ and ~1 for /" lanebloom hash --jsonl -f /a~
  refuses "found nothing" lanebloom hash --jsonl -f a,
  echo a >keys
  refuses "one of --annotate and --jsonl" lanebloom match --annotate --jsonl -f a keys
}

# Compares with Python's json module on objects with every kind of value and escape.
compare_with_python() { # NROWS SEED
  python3 - "$@" <<'END'
import json, random, sys
nrows, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
pieces = ["a", "b c", ",", '"', "\\", "/", "\n", "\r", "\t", "\x01", "\x7f", "é", "\u2028", "😀",
          "x" * 70, "{", "]", ":", "", "0", "users"]
numbers = ["0", "-0", "17", "-1.50", "1e5", "2E-7", "12345678901234567890123", "0.10"]
def text(): return "".join(rng.choices(pieces, k=rng.choice([0, 1, 1, 2, 3, 9])))
def space(): return rng.choice(["", "", "", " ", "\t ", "\r"])
def quote(s):
    if rng.random() < .2: # escapes that are not necessary
        return '"' + "".join("".join("\\u%04X" % u for u in
            memoryview(c.encode("utf-16-le")).cast("H")) for c in s) + '"'
    return json.dumps(s, ensure_ascii=rng.random() < .5).replace("/", rng.choice(["/", "\\/"]))
def scalar(): return rng.choice([quote(text()), rng.choice(numbers), "true", "false"])
def value(depth):
    kind = rng.random() if depth < 5 else 1
    if kind < .15: return array([value(depth + 1) for _ in range(rng.randrange(4))])
    if kind < .3: return members([(text(), value(depth + 1)) for _ in range(rng.randrange(4))])
    return rng.choice([scalar(), "null"])
def array(items): return "[" + ",".join(space() + i + space() for i in items) + "]"
def members(pairs):
    return "{" + ",".join(space() + quote(k) + space() + ":" + space() + v + space()
                          for k, v in pairs) + "}"
def key(v):
    return "true" if v is True else "false" if v is False else str(v)
with open("rows", "w", newline="") as rows, open("keys", "wb") as keys:
    for i in range(nrows):
        pairs = [(text(), value(0)) for _ in range(rng.randrange(6))]
        inner = [(text(), value(1)) for _ in range(rng.randrange(3))] + [("id", scalar())]
        rng.shuffle(inner)
        list_ = [value(1) for _ in range(2)] + [members(inner)] + [value(1)] * rng.randrange(2)
        pairs += [("user", scalar()), ("list", array(list_))] + [("user", scalar())] * (i % 7 == 0)
        rng.shuffle(pairs)
        if i % 5000 == 4999: # longer than a chunk
            pairs.append(("long", quote("long \" " * 200000)))
        row = space() + members(pairs) + space()
        assert "\n" not in row
        rows.write(row + ("\n" if i < nrows - 1 else ""))
        read = json.loads(row, parse_int=str, parse_float=str)
        keys.write((key(read["list"][2]["id"]) + "\t" + key(read["user"])).encode() + b"\0")
END
}

@test "the keys of generated rows are those that Python's json module reads" {
  needs_json
  n=20000
  ! exhaustive || n=200000
  compare_with_python "$n" 7
  lanebloom build -z -o python.lbf keys
  lanebloom build --jsonl -f /list/2/id,user -o ours.lbf rows
  cmp -i 64 python.lbf ours.lbf # the headers differ: keys of several fields have another form
  { cat rows; echo; } >whole
  lanebloom screen --jsonl -f /list/2/id,/user ours.lbf rows | cmp - whole
  cat rows | lanebloom build -j 3 --jsonl -f /list/2/id,user -o ours.lbf
  cmp -i 64 python.lbf ours.lbf
  head -z -n 20 keys | lanebloom build -z --raw -o few
  lanebloom screen -j 1 --jsonl -f /list/2/id,user --raw --format rocksdb few rows >one
  lanebloom screen -j 3 --jsonl -f /list/2/id,user --raw --format rocksdb few rows | cmp - one
  [[ -s one && $(wc -l <one) -lt $((n / 2)) ]]
}

@test "a build without simdjson says so" {
  run lanebloom hash --jsonl -f a /dev/null
  [[ $output == *"without simdjson"* ]] || skip "this build has simdjson"
  refuses "--jsonl: this lanebloom was built without simdjson" lanebloom hash --jsonl -f a
}

@test "an array of records, and a value of many lines: the message names jq" {
  needs_json
  array="; jq -c '.[]' FILE prints an array as lines"
  for text in '[{"id":1},{"id":2}]' ' [ {"id":1},\n{"id":2}]' '[\n{"id":1}\n]' '[]' \
    '\xef\xbb\xbf[[1]]' '[\r\n  1\r\n]'; do
    printf "$text\n" >input
    run -2 --separate-stderr lanebloom hash --jsonl -f id input
    is_message "input: line 1: "
    [[ $stderr == *"$array"* ]]
  done
  for text in '{\n "id": 1\n}' '{ "id": 1,\n "b": 2 }' '{"a":[\n1],"id":2}'; do
    printf "$text\n" >input
    run -2 --separate-stderr lanebloom hash --jsonl -f id input
    is_message "; jq -c . FILE prints each value on one line"
  done
  for text in '{"a":1}' '{"a":' x 1 '"["' '{"a":[]}' '{"id":1}\n[' '{"id":1}\n{'; do
    printf "$text\n" >input
    run -2 --separate-stderr lanebloom hash --jsonl -f id input
    [[ $stderr != *jq* ]]
  done
  printf '["x"]\n' | lanebloom hash --jsonl -f /0
}
