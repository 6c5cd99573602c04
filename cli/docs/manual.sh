#!/bin/sh
# Prints the man page of the command or of a verb, which help2man makes from the output of --help:
# manual.sh LANEBLOOM VERSION [VERB]
# SPDX-License-Identifier: MIT
set -eu
command=$1
version=$2
verb=${3-}
page=lanebloom${verb:+-$verb}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$command" --help >"$work/command"
# shellcheck disable=SC2086 # no word without a verb
"$command" $verb --help >"$work/help"

# Each line of --help below "Verbs:" has two spaces, VERB, spaces and TEXT, which may continue on
# further lines. Writes one line for each verb, with a tab between VERB and TEXT.
awk '
  / Verbs:$/ { inside = 1; next }
  inside && /^$/ { exit }
  !inside { next }
  /^  [a-z]/ { sub(/^  /, ""); sub(/  +/, "\t"); if (line) print line; line = $0; next }
  { sub(/^ +/, " "); line = line $0 }
  END { print line }' "$work/command" >"$work/verbs"
name="screen records against the Bloom filters of storage engines"
[ -z "$verb" ] ||
  name=$(awk -F '\t' -v verb="$verb" \
    '$1 == verb { print tolower(substr($2, 1, 1)) substr($2, 2) }' "$work/verbs")

# help2man takes the name of the page from the name of the program that prints the help, and looks
# for a line "Options:" in the help. So this makes a program that has the name of the page, and that
# adds this line when it prints the help.
cat >"$work/$page" <<'SCRIPT'
#!/bin/sh
awk '!found && /^( [A-Z].*:$| +(-., )?--)/ { found = 1; print "Options:\n" } { print }' \
  "$(dirname "$0")/help"
SCRIPT
chmod +x "$work/$page"

{
  cat <<'SECTIONS'
[EXIT STATUS]
0 if all went well and, where records are selected or files are checked,
the answer is yes; 1 if it is no; 2 after an error.

[ENVIRONMENT]
.TP
.B LANEBLOOM_KERNEL
The kernel to use, unless
.B \-\-kernel
names one.

[SEE ALSO]
SECTIONS
  awk -F '\t' -v page="$page" '
    BEGIN { pages = page == "lanebloom" ? "" : ".BR lanebloom (1)" }
    $1 ~ /^[a-z]+$/ && page != "lanebloom-" $1 {
      pages = pages (pages ? ",\n" : "") ".BR lanebloom\\-" $1 " (1)"
    }
    END { print pages }' "$work/verbs"
} >"$work/sections"

# help2man prints a date without its day, and joins the lines of examples and the headings of groups
# of options to paragraphs. The following commands correct its output.
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)
help2man --no-info --locale=C.UTF-8 --section=1 --manual="User Commands" \
  --source="lanebloom $version" --version-string="$version" --name="$name" \
  --include="$work/sections" "$work/$page" >"$work/page"
awk -v date="$date" '
  /^[.]TH / { sub(/"[A-Z][a-z]+ [0-9]+"/, "\"" date "\"") }
  /^[.]SH / { section = $2 }
  held != "" {
    print section == "OPTIONS" && /:$/ ? ".SS \"" $0 "\"" : held "\n" $0
    held = ""
    next
  }
  section == "OPTIONS" && /^[.]IP$/ { held = $0; next }
  section == "EXAMPLES" && /^[.]IP$/ { print $0 "\n.nf"; literal = 1; next }
  literal && /^[.](PP|SH)/ { print ".fi"; literal = 0 }
  { print }' "$work/page"
