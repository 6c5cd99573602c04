#!/usr/bin/env bats
# Man pages and completions, which the build made from --help.
# SPDX-License-Identifier: MIT

load helper

pages=$BUILD_DIR/cli

verbs() {
  lanebloom --help | sed -n '/Verbs:/,/^$/s/^  \([a-z][a-z0-9]*\) .*/\1/p' | grep -vx help
}

needs() { # PROGRAM
  command -v "$1" >/dev/null || skip "$1 is missing"
}

options_of() { # VERB
  lanebloom "$1" --help | grep -oE '^(  -., |      )--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

has_pages() {
  [ -e "$pages/lanebloom.1" ] || skip "this build has no man pages"
}

has_completions() {
  [ -e "$pages/lanebloom.bash" ] || skip "this build has no completions"
}

@test "every verb has a man page with its options, and mandoc has no complaint" {
  has_pages
  needs mandoc
  verbs >names
  [ "$(wc -l <names)" -ge 12 ]
  for page in "$pages/lanebloom.1" $(sed "s|.*|$pages/lanebloom-&.1|" names); do
    mandoc -T lint -W warning "$page"
  done
  while read -r verb; do
    mandoc -T utf8 "$pages/lanebloom-$verb.1" | col -bx >page
    grep -q "lanebloom-$verb - [a-z]" page
    options_of "$verb" >options
    [ "$(wc -l <options)" -ge 3 ]
    while read -r option; do
      grep -qF -- "$option" page || { echo "$verb: no $option"; false; }
    done <options
    for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
      grep -qx "$section" page || { echo "$verb: no $section"; false; }
    done
  done <names
}

# bash_completes WORD...: prints what bash offers for the last word, one line each.
bash_completes() {
  PATH=$(dirname "$LANEBLOOM"):$PATH bash --norc -c '
    source "$0"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
    _lanebloom 2>/dev/null
    printf "%s\n" "${COMPREPLY[@]}"' "$pages/lanebloom.bash" "$@"
}

@test "bash completes verbs, options, their values and files" {
  has_completions
  [ "$(bash_completes lanebloom sc)" = screen ]
  diff <(bash_completes lanebloom "" | grep -vE '^(-|help$)' | sort) <(verbs | sort)
  bash_completes lanebloom screen --inv | grep -qx -- --invert-match
  [ "$(bash_completes lanebloom screen --missing = k)" = keep ]
  bash_completes lanebloom build --format = rocksdb-lo | grep -qx rocksdb-local
  bash_completes lanebloom screen --kernel = sca | grep -qx scalar
  touch some.lbf
  [ "$(bash_completes lanebloom screen so)" = some.lbf ]
  options_of screen | sort >options
  bash_completes lanebloom screen -- | sed 's/=$//' | grep '^--' | sort | diff options -
}

@test "fish completes verbs, options and their values" {
  has_completions
  needs fish
  fish_completes() {
    fish --no-config -c "source $pages/lanebloom.fish; complete -C '$1'" | cut -f 1
  }
  [ "$(fish_completes 'lanebloom scre')" = screen ]
  fish_completes 'lanebloom screen --inv' | grep -qx -- --invert-match
  fish_completes 'lanebloom screen --missing=k' | grep -q keep
}

@test "zsh completes verbs, options and their values" {
  has_completions
  needs zsh
  cat >drive.zsh <<'END'
zmodload zsh/zpty
zpty session zsh -f -i
zpty -w session "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; print re''ady"
zpty -r session out '*ready*'
zpty -w -n session "$2"$'\t'
zpty -w -n session $'\t'
zpty -r session out '*lanebloom screen*' # waits for this text
print -rn -- "$out"
zpty -d session
END
  TERM=dumb timeout 20 zsh -f drive.zsh "$pages" 'lanebloom scre' >seen
  grep -q 'lanebloom screen' seen || { cat -v seen; false; }
}
