#!/usr/bin/env bats
# The documents' links lead somewhere, all documents can be reached from docs/README.md, and a
# script draws exactly the pictures that they show.
# SPDX-License-Identifier: MIT

# Makes a project with one document and its index.
setup() {
  cd "$BATS_TEST_TMPDIR"
  mkdir docs
  printf '[Documents](docs/README.md)\n' >README.md
  printf '# Index\n\n- [One](one.md#two-words)\n- [Above](../README.md)\n' >docs/README.md
  printf '%s\n' '# One' '' '## Two *words*' '' '## Two words' '' '`[no](link.md)`' '' \
    '    [no](link.md)' >docs/one.md
}

# Checks that the script ends with status 1 and prints only this text.
faulty() { # TEXT
  run python3 "$SOURCE_DIR/tests/tree/links.py" .
  echo "$output"
  [ "$status" = 1 ]
  [ "${#lines[@]}" = 2 ]
  [ "${lines[0]}" = "$1" ]
}

@test "the links of all documents" {
  run python3 "$SOURCE_DIR/tests/tree/links.py" "$SOURCE_DIR"
  echo "$output"
  [ "$status" = 0 ]
  [ "${output%% *}" -ge 110 ]
}

@test "links that lead somewhere" {
  printf '\n[Again](one.md#two-words-1), [web](https://example.org/x#y)\n' >>docs/README.md
  run python3 "$SOURCE_DIR/tests/tree/links.py" .
  [ "$output" = "4 links, 0 faults" ]
}

@test "a file that is not there" {
  printf '\n![A picture](pictures/one.svg)\n' >>docs/one.md
  faulty 'docs/one.md:11: pictures/one.svg is not there'
}

@test "a heading that is not there" {
  printf '[Three](one.md#three-words)\n' >>docs/README.md
  faulty 'docs/README.md:5: one.md has no heading #three-words'
}

@test "a document to which no links lead" {
  printf '# Two\n\n[One](one.md)\n' >docs/two.md
  faulty 'docs/two.md: no links lead there from docs/README.md'
}

@test "the pictures are what docs/pictures/make.py draws" {
  python3 "$SOURCE_DIR/docs/pictures/make.py" .
  [ "$(find . -name '*.svg' | wc -l)" -ge 4 ]
  for picture in *.svg "$SOURCE_DIR"/docs/pictures/*.svg; do
    cmp "${picture##*/}" "$SOURCE_DIR/docs/pictures/${picture##*/}"
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture"
    grep -q "(pictures/${picture##*/})" "$SOURCE_DIR"/docs/*.md
  done
}
