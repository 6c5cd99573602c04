#!/bin/sh
# Prints the completions of the command for a shell, made from what --help says:
# completions.sh LANEBLOOM bash|zsh|fish
# SPDX-License-Identifier: MIT
set -eu
command=$1
shell=$2

# Prints lines whose columns are separated by tabs. The line of a verb has "verb", its name and its
# text. The line of an option has "option", its verb, its short name or "", its long name, the kind
# of its value, the possible values, whether the value is optional, and its text. If the option has
# no value, the kind is "". Otherwise it is "kernel", "word" or "file", or it is "other" if the
# possible values are unknown. For the kind "word", the text contains the possible values: they are
# quoted as `word', or are names of formats with a colon after each.
table() {
  "$command" --help | awk '
    / Verbs:$/ { inside = 1; next }
    inside && /^$/ { exit }
    inside && /^  [a-z]/ { print line; line = "" }
    inside { sub(/^ +/, " "); line = line $0 }
    END { print line }' | sed -n 's/^ \([a-z]*\)\( \[VERB\]\)\{0,1\} */\1 /p' |
    while read -r verb text; do
      printf 'verb\t%s\t%s\n' "$verb" "$text"
      [ "$verb" = help ] || "$command" "$verb" --help | options "$verb"
    done
}

options() { # VERB
  awk -v verb="$1" '
    function words(text, pattern,    word, found) {
      found = ""
      while (match(text, pattern)) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH - (word ~ / $/))
        gsub(/[^a-z0-9-]/, "", word)
        found = found (found == "" ? "" : " ") word
      }
      return found
    }
    function finish(    kind, values) {
      if (long == "")
        return
      values = kind = ""
      if (value ~ /^(FILE|FOLDER|DIR|PATH|FILTER|TABLE)$/)
        kind = "file"
      else if (long == "kernel")
        kind = "kernel"
      else if (value ~ /^(NAME|WHAT|WHEN|HOW|FORM|FORMAT)$/)
        kind = (values = words(text, long == "format" ? format : quoted)) == "" ? "other" : "word"
      else if (value != "")
        kind = "other"
      printf "option\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", verb, short, long, kind, values, optional, text
      long = ""
    }
    BEGIN { quoted = "`[a-z][a-z0-9-]*\047"; format = " [a-z][a-z0-9-]*: " }
    /^(  -[A-Za-z], |      )--[a-z]/ {
      finish()
      text = $0
      match(text, /--[a-z-]+(\[?=[A-Z]+\]?)?/)
      name = substr(text, RSTART + 2, RLENGTH - 2)
      short = match(text, /-[A-Za-z], /) && RSTART == 3 ? substr(text, 4, 1) : ""
      sub(/^ +(-[A-Za-z], )?--[^ ]+ */, "", text)
      optional = name ~ /\[/ ? "optional" : "required"
      value = name ~ /=/ ? name : ""
      gsub(/^[^=]*=|\]/, "", value)
      long = name
      sub(/\[?=.*/, "", long)
      next
    }
    /^           +[^ ]/ && long != "" {
      sub(/^ +/, "")
      text = text (text == "" ? "" : " ") $0
      next
    }
    { finish() }
    END { finish() }'
}

# Ends a text before its first period, semicolon or colon, and removes what is in parentheses,
# because shells show the text beside the option.
short_text='function brief(text) {
  gsub(/ *\([^)]*\)/, "", text)
  sub(/[.;:] .*|[.:]$/, "", text)
  gsub(/[\047"`$\\[\]]/, "", text)
  return text
}'

bash_completion() {
  cat <<'END_OF_BASH'
# Completions of lanebloom for bash, made from its --help.
_lanebloom_kernels() {
  lanebloom kernels 2>/dev/null | sed '1d; s/^..//; s/ .*//'
}

_lanebloom_values() { # VERB OPTION: "file", "other", or words
  case $1,$2 in
END_OF_BASH
  table | awk -F '\t' '
    $1 == "option" && $5 != "" {
      names = $2 ",--" $4 ($3 == "" ? "" : "|" $2 ",-" $3)
      if ($7 == "optional")
        names = $2 ",--" $4 "="
      if ($5 == "word") value = "echo \"" $6 "\""
      else if ($5 == "kernel") value = "_lanebloom_kernels"
      else value = "echo " $5
      print "    " names ") " value " ;;"
    }'
  cat <<'END_OF_BASH'
  esac
}

_lanebloom_options() { # VERB
  case $1 in
END_OF_BASH
  table | awk -F '\t' '
    $1 == "verb" { verbs = verbs " " $2; if (line != "") print line "\" ;;"; line = "" }
    $1 == "option" {
      if (line == "") line = "    " $2 ") echo \""
      else line = line " "
      line = line "--" $4 ($5 != "" && $7 != "optional" ? "=" : "") ($3 == "" ? "" : " -" $3)
    }
    END {
      if (line != "") print line "\" ;;"
      print "    \"\") echo \"" substr(verbs, 2) " --help --usage --version\" ;;"
    }'
  cat <<'END_OF_BASH'
  esac
}

# `=' may be a word of its own, as COMP_WORDBREAKS says.
_lanebloom() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb='' values=other
  [ "$COMP_CWORD" -lt 2 ] || verb=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$word" = = ]; then
    before=$before= word=
  elif [ "$before" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
    before=${COMP_WORDS[COMP_CWORD-2]}=
  elif [[ $word == --*=* ]]; then
    before=${word%%=*}= word=${word#*=}
  fi
  values=$(_lanebloom_values "$verb" "$before")
  [ -n "$values" ] || values=$(_lanebloom_values "$verb" "${before%=}")
  case $values in
    other) return ;;
    file) ;;
    '')
      if [ -z "$verb" ] || [[ $word == -* ]]; then
        values=$(_lanebloom_options "$verb")
      elif [ "$verb" = help ]; then
        values=$(_lanebloom_options "")
      fi ;;
  esac
  if [ -z "$values" ] || [ "$values" = file ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _lanebloom lanebloom
END_OF_BASH
}

zsh_completion() {
  cat <<'END_OF_ZSH'
#compdef lanebloom
# Completions of lanebloom for zsh, made from its --help.
_lanebloom_kernels() {
  local -a kernels
  kernels=(${(f)"$(lanebloom kernels 2>/dev/null | sed '1d; s/^..//; s/ .*//')"})
  compadd -a kernels
}

_lanebloom() {
  local verb=$words[2]
  if ((CURRENT == 2)); then
    local -a verbs=(
END_OF_ZSH
  table | awk -F '\t' "$short_text"'
    $1 == "verb" { print "      \047" $2 ":" brief($3) "\047" }'
  cat <<'END_OF_ZSH'
    )
    _describe verb verbs
    return
  fi
  shift words
  ((CURRENT--))
  case $verb in
END_OF_ZSH
  table | awk -F '\t' "$short_text"'
    function end() { if (open) print " \\\n      \"*:file:_files\" ;;" }
    $1 == "verb" {
      end()
      open = $2 != "help"
      if (open) printf "    %s) _arguments -s", $2
      verbs = verbs " " $2
    }
    $1 == "option" {
      action = $5 == "word" ? "(" $6 ")" : $5 == "kernel" ? "_lanebloom_kernels" : \
        $5 == "file" ? "_files" : " "
      value = $5 == "" ? "" : ($7 == "optional" ? "::" : ":") $4 ":" action
      text = "[" brief($8) "]"
      printf " \\\n      \047*--%s%s%s%s\047", $4,
        $5 == "" ? "" : $7 == "optional" ? "=-" : "=", text, value
      if ($3 != "")
        printf " \\\n      \047*-%s%s%s%s\047", $3, $5 == "" ? "" : "+", text, value
    }
    END { end(); print "    help) compadd" verbs " ;;" }'
  printf '  esac\n}\n_lanebloom "$@"\n'
}

fish_completion() {
  echo "# Completions of lanebloom for fish, made from its --help."
  table | awk -F '\t' "$short_text"'
    $1 == "verb" {
      print "complete -c lanebloom -f -n __fish_use_subcommand -a " $2 " -d \047" brief($3) "\047"
      verbs = verbs " " $2
    }
    $1 == "option" {
      line = "complete -c lanebloom -n \047__fish_seen_subcommand_from " $2 "\047 -l " $4
      if ($3 != "") line = line " -s " $3
      if ($7 != "optional" && $5 != "") line = line ($5 == "file" ? " -r -F" : " -x")
      if ($5 == "word") line = line " -a \047" $6 "\047"
      if ($5 == "kernel")
        line = line " -a \047(lanebloom kernels 2>/dev/null | sed \"1d; s/^..//; s/ .*//\")\047"
      print line " -d \047" brief($8) "\047"
    }
    END {
      print "complete -c lanebloom -f -n \047__fish_seen_subcommand_from help\047 -a \047" \
        substr(verbs, 2) "\047"
    }'
}

case $shell in
  bash | zsh | fish) "${shell}_completion" ;;
  *) echo "completions.sh: expected bash, zsh or fish, found '$shell'" >&2; exit 2 ;;
esac
