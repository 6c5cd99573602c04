# --digest: the key is the digest of a text. A filter may have been built from texts or from
# digests.
# SPDX-License-Identifier: MIT
load helper

needs_digests() {
  [[ $(lanebloom --version) == *digests* ]] || skip "this build has no Nettle"
}

# digest_of NAME TEXT: prints the digest of the text in hexadecimal, without a line end.
digest_of() {
  printf %s "$2" | "${1}sum" | cut -d ' ' -f 1 | tr -d '\n'
}

@test "digests are what Python makes of the texts, as bytes and in both cases of hexadecimal" {
  needs_digests
  python3 "$BATS_TEST_DIRNAME/digests.py" .
  for name in md5 sha1 sha256 ntlm; do
    [[ $(wc -l <$name.hex) -eq 313 ]]
    tr a-f A-F <$name.hex >$name.HEX
    hashes --decode hex <$name.hex >wanted
    lanebloom hash -z --digest $name texts | tr '\0' '\n' | grep -aoE '^[0-9a-f]{16}'$'\t' |
      cut -f 1 | cmp - wanted
    hashes -z --digest $name:hex <texts | cmp - <(hashes <$name.hex)
    hashes -z --digest $name:HEX <texts | cmp - <(hashes <$name.HEX)
  done
}

@test "digests that everybody knows" {
  needs_digests
  while read -r name text digest; do
    diff <(printf %s "$text" | tr _ '\n' | hashes -z --digest $name) \
      <(hashes --decode hex <<<$digest)
  done <<'EOF'
md5 password 5f4dcc3b5aa765d61d8327deb882cf99
sha1 password 5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8
sha256 password 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8
ntlm password 8846f7eaee8fb117ad06bdd830b7586c
ntlm Grüße 2816114083c3d8e78cfa2bdb9cde7ae6
EOF
}

@test "the text is trimmed, and its case changed, before its digest is computed" {
  needs_digests
  printf ' Ann@Example.com\t\n' >input
  diff <(hashes --trim --lower --digest sha256 input) \
    <(digest_of sha256 ann@example.com | hashes --decode hex)
  diff <(hashes --trim --upper --digest sha1:HEX input) \
    <(digest_of sha1 ANN@EXAMPLE.COM | hashes --upper)
  printf 'x,1, b ,"A ""q"""\n' | hashes --csv --no-header -f 3,4 --trim --lower --digest md5 |
    diff - <(digest_of md5 $'b\ta "q"' | hashes --decode hex)
  printf ' b \t A\n' >joined # a filter of joined fields takes whole records, too
  lanebloom build -f 1,2 --trim --digest md5 -o joined.lbf joined
  [[ $(lanebloom screen -c joined.lbf joined) -eq 1 ]]
  printf '0123456789\n' | hashes -b 3-5 --digest md5 |
    diff - <(digest_of md5 234 | hashes --decode hex)
  printf 'abcABC' | hashes --width 3 --lower --digest md5 | uniq -c | grep -q ' 2 '
}

@test "a filter of texts makes the digests of its input by itself" {
  needs_digests
  numbers 1 1000 >keys
  lanebloom build --lower --digest sha1:HEX -o keys.lbf keys
  [[ $(lanebloom info keys.lbf) == *$'\n'"key form: sha1:HEX, lower-cased" ]]
  [[ $(lanebloom info --json keys.lbf | jq -c .key_form) == '{"encoding":"bytes","trimmed":false,'\
'"lowered":true,"uppered":false,"joined":false,"digest":"sha1:HEX"}' ]]
  tr k K <keys >input
  for jobs in "-j 1" "-j 2"; do
    lanebloom screen $jobs keys.lbf input | cmp - input
    lanebloom screen $jobs --lower --digest sha1:HEX keys.lbf input | cmp - input
  done
  lanebloom add keys.lbf <<<One
  [[ $(lanebloom screen -c keys.lbf <<<oNE) -eq 1 ]]
  sha1=$(digest_of sha1 one)
  [[ $(lanebloom screen --decode none -c keys.lbf <<<"${sha1^^}") -eq 1 ]]
  lanebloom build --digest sha1 -o bytes.lbf <<<one
  [[ $(lanebloom screen --decode hex -c bytes.lbf <<<"$sha1") -eq 1 ]]
  [[ $(printf %s "$sha1" | xxd -r -p | lanebloom screen --decode none --width 20 -c bytes.lbf) \
    -eq 1 ]]
}

@test "texts are screened against a filter of digests that others made" {
  needs_digests
  numbers 1 500 >texts
  python3 -c 'import hashlib, sys
for line in sys.stdin: print(hashlib.sha1(line[:-1].encode()).hexdigest())' <texts >digests
  head -n 250 digests >half
  tr a-f A-F <half | sed 's/$/:7/' >list # as Have I Been Pwned writes it
  lanebloom build -f 1 -d : --decode hex --bits 40 -o bytes.lbf list
  lanebloom build -f 1 -d : --bits 40 -o upper.lbf list
  lanebloom build --lower --bits 40 -o lower.lbf half
  lanebloom screen --digest sha1 bytes.lbf texts | cmp - <(head -n 250 texts)
  lanebloom screen --digest sha1:HEX upper.lbf texts | cmp - <(head -n 250 texts)
  lanebloom screen --digest sha1:hex lower.lbf texts | cmp - <(head -n 250 texts)
  lanebloom match -c --digest sha1 <(head -n 9 texts) texts | grep -qx 9
  fails_with "form 'sha1:HEX', as --digest says, found 'hex'" \
    lanebloom screen --digest sha1:HEX bytes.lbf texts
  fails_with "form 'sha1', as --digest says, found 'bytes, lower-cased'" \
    lanebloom screen --digest sha1 lower.lbf texts
  fails_with "form 'sha1:HEX', as --digest says, found 'bytes, lower-cased'" \
    lanebloom screen --digest sha1:HEX lower.lbf texts
  lanebloom build --digest md5 -o md5.lbf texts
  fails_with "form 'sha1', as --digest says, found 'md5'" \
    lanebloom screen --digest sha1 md5.lbf texts
  fails_with "form 'int32', as --decode says, found 'md5'" \
    lanebloom add --decode int32 md5.lbf texts
  lanebloom build -o plain.lbf texts
  fails_with "md5.lbf: expected a filter of key form 'bytes', as plain.lbf says, found 'md5'" \
    lanebloom screen --filter plain.lbf --filter md5.lbf texts
  fails_with "expected keys of the form 'bytes', found 'md5'" \
    lanebloom merge -o merged.lbf plain.lbf md5.lbf
}

@test "options that contradict each other, and names that are not digests" {
  needs_digests
  refuses "give only one of --lower and --upper" lanebloom hash --lower --upper
  refuses "give only one of --decode and --digest" lanebloom hash --decode hex --digest md5
  refuses "give only one of --decode and --digest" lanebloom hash --digest md5 --decode none
  refuses "give --digest only once" lanebloom hash --digest md5 --digest md5
  for name in '' md4 SHA1 sha1: sha1:Hex sha1:hexx :hex sha md55; do
    refuses "expected md5, sha1, sha256 or ntlm" lanebloom hash --digest "$name"
  done
}

@test "ntlm: text that is not UTF-8 is malformed" {
  needs_digests
  while read -r bytes; do
    printf "ok\nab$bytes\n" >input
    fails_with "input: line 2: column 3: expected UTF-8, found '\\" \
      lanebloom build --digest ntlm -o x input
    [[ $(lanebloom hash --digest ntlm --missing=drop input 2>errors | wc -l) -eq 1 ]]
    grep -q "1 of 2 records have no key, or malformed text: dropped" errors
  done <<'EOF'
\xff
\x80
\xc1\x81
\xc3
\xe0\x9f\xbf
\xed\xa0\x80
\xe2\x82
\xf0\x8f\xbf\xbf
\xf4\x90\x80\x80
\xf0\x9f\x98
\xf5\x80\x80\x80
EOF
  printf 'ab\xff\n' | hashes --digest md5 >found # other digests take any bytes
  [[ $(wc -l <found) -eq 1 ]]
}

@test "without Nettle, a filter of digests is refused" {
  [[ $(lanebloom --version) != *digests* ]] || skip "this build has Nettle"
  xxd -r -p >sha1.lbf <<'EOF'
894c42460d0a1a0a03000000010000000200000000000000
10270000000000000900000000000000000029026628beb5
0d18d24ed5dd1e980000000000000000114000414410401006
EOF
  [[ $(lanebloom info sha1.lbf) == *"key form: sha1:HEX, trimmed, upper-cased" ]]
  fails_with "sha1.lbf: keys of this filter are digests, and this lanebloom was built without" \
    lanebloom screen sha1.lbf <<<a
  [[ $(lanebloom screen -c --decode none sha1.lbf <<<hello) -eq 1 ]]
  refuses "--digest: this lanebloom was built without Nettle" lanebloom hash --digest md5
}

@test "lines that end in CR LF: a carriage return would be part of every text" {
  needs_digests
  numbers 1 100 >unix
  sed 's/$/\r/' unix >windows
  run --separate-stderr lanebloom build --digest md5 -o windows.lbf windows
  [[ $stderr == *"--crlf"* ]]
  lanebloom build --crlf --digest md5 -o crlf.lbf windows 2>errors
  [[ ! -s errors && $(lanebloom screen -c crlf.lbf unix) -eq 100 ]]
}

@test "the last line may lack its end: warnings are those of keys without a digest" {
  needs_digests
  for text in '\r' 'a\r' 'a\r\n\r' 'a\r\nb' 'a\nb\r' 'a\r\nb\r' '\xef\xbb\xbf\r' 'a\nb'; do
    printf "$text" >lines
    lanebloom build -o filter lines 2>expected
    lanebloom build --digest md5 -o filter lines 2>errors
    diff expected errors
  done
  printf 'a\r' >lines
  run -0 --separate-stderr lanebloom build --digest md5 -o filter lines
  is_message "lines: warning: the first keys all end in a carriage return (CR)"
}

@test "--upper" {
  printf 'azAZ`{@[\303\244 b1\n' | hashes --upper |
    diff - <(printf 'AZAZ`{@[\303\244 B1\n' | hashes)
  lanebloom build --upper -o upper.lbf <<<abcdef
  [[ $(lanebloom info upper.lbf) == *$'\n'"key form: bytes, upper-cased" ]]
  [[ $(lanebloom screen -c upper.lbf <<<aBcDeF) -eq 1 ]]
  lanebloom build --lower -o lower.lbf <<<abcdef
  fails_with "form 'bytes, upper-cased', as --upper says, found 'bytes, lower-cased'" \
    lanebloom screen --upper lower.lbf <<<a
  printf 'ABC\n' >keys
  [[ $(printf 'abc\nabd\n' | lanebloom match --upper keys) == abc ]]
}
