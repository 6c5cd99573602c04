# The command as a whole: help, version, verbs, kernels.
# SPDX-License-Identifier: MIT
load helper

verbs="build screen add merge plan info verify hash tables extract kernels"

@test "--help lists the verbs, every verb has its own" {
  run -0 --separate-stderr lanebloom --help
  [[ ${lines[0]} == "Usage: lanebloom "* ]]
  for verb in $verbs; do
    grep -q "^ *$verb " <<<"$output"
  done
  for verb in $verbs; do
    run -0 --separate-stderr lanebloom $verb --help
    [[ ${lines[0]} == "Usage: lanebloom $verb "* && $output == *Examples:*"lanebloom $verb"* &&
      -z $stderr ]]
    sed '1,/^Examples:$/d' <<<"$output" >examples
    [[ -s examples ]]
    [[ -z $(grep -v '^  ' examples) ]] # a wrapped example would become two commands
  done
}

@test "-h and help are --help" {
  lanebloom --help >help
  grep -q '^  -h, --help ' help
  grep -q '1000000, 1e6 or 1M' help
  for words in -h "-?" help; do
    run -0 --separate-stderr lanebloom $words
    [[ -z $stderr ]]
    cmp help <(echo "$output")
  done
  for verb in $verbs; do
    lanebloom $verb --help >help
    for words in "$verb -h" "$verb -?" "help $verb"; do
      run -0 --separate-stderr lanebloom $words
      [[ -z $stderr ]]
      cmp help <(echo "$output")
    done
  done
  run -0 --separate-stderr lanebloom build --usage
  [[ ${lines[0]} == "Usage: lanebloom build "* && -z $stderr ]]
  refuses "found 'frobnicate'" lanebloom help frobnicate
  refuses "found '-h'" lanebloom help -h
  refuses "help: expected one verb" lanebloom help build screen
}

@test "--version is the library's" {
  run -0 lanebloom --version
  [[ ${lines[0]} =~ ^lanebloom\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
  for name in compiler kernels inputs tables; do
    [[ $(grep -c "^$name: ." <<<"$output") -eq 1 ]]
  done
  active=$(lanebloom kernels --json | jq -r .active)
  [[ $output == *"; in use: $active"* ]]
  version=$output
  run -0 lanebloom build -V
  [[ $output == "$version" ]]
}

@test "--help, --usage and --version: options after them are not looked at, as in the coreutils" {
  for word in --help --usage --version -h -V --hel; do
    for verb in "" screen build kernels; do
      run -0 --separate-stderr lanebloom $verb $word
      expected=$output
      for wrong in --frobnicate -Q --rate=5; do
        run -0 --separate-stderr lanebloom $verb $word $wrong
        [[ $output == "$expected" && -z $stderr ]]
        refuses "" lanebloom $verb --frobnicate $wrong $word
      done
    done
  done
}

@test "no verb, an unknown verb, unknown options" {
  refuses "expected a verb, found none" lanebloom
  for word in frobnicate "" x; do
    refuses "expected one of build screen match add merge plan info verify hash tables extract \
kernels, found '$word'" lanebloom "$word"
  done
  refuses "--frobnicate" lanebloom --frobnicate
  refuses "--frobnicate" lanebloom screen --frobnicate
  refuses "screen: unrecognized option" lanebloom screen --frobnicate
  refuses "Too many arguments" lanebloom kernels extra
}

@test "a verb or an option that is misspelt: the message has the nearest one" {
  for verb in $verbs match; do
    for word in "${verb}x" "x$verb" "${verb:0:1}${verb:2}" "${verb:0:1}q${verb:2}"; do
      refuses "expected a verb, found '$word'; did you mean '$verb'?" lanebloom "$word" one
    done
  done
  refuses "found 'scren'; did you mean 'screen'?" lanebloom help scren
  refuses "found 'hsah'; did you mean 'hash'?" lanebloom hsah
  refuses "found 'BUILD'; did you mean 'build'?" lanebloom BUILD
  for word in --sumary --summaryy --summray --sumary=1 "--kernel scalar --sumary"; do
    refuses "screen: unrecognized option '--sum" lanebloom screen $word
    [[ $stderr == *"; did you mean '--summary'?"* ]]
  done
  refuses "merge: unrecognized option '--ouput'; did you mean '--output'?" \
    lanebloom merge a b --ouput=c
  refuses "unrecognized option '--versoin'; did you mean '--version'?" \
    lanebloom --versoin screen
  for words in frobnicate "screen --frobnicate" "x" ""; do
    run -2 --separate-stderr lanebloom $words
    [[ $stderr != *"did you mean"* ]]
  done
}

@test "a long option with one dash: the message has both" {
  seq 3 | lanebloom build -o f.lbf
  for word in -db -csv -count -invert-match -no-header -filter -format -missing -jobs -max-count; do
    for words in "$word . f.lbf" "f.lbf $word ." "-v $word" "$word" "$word=."; do
      refuses "screen: unrecognized option '$word'; did you mean '-$word'?" lanebloom screen $words
    done
  done
  refuses "unrecognized option '-output'; did you mean '--output'?" lanebloom build -output x f.lbf
  refuses "unrecognized option '-version'; did you mean '--version'?" lanebloom -version
  refuses "invalid option -- 's'" lanebloom screen -s f.lbf -- -csv
  [[ $stderr != *"did you mean"* && $(ls) == f.lbf ]]
  [[ $(lanebloom screen -cd b -f 1 f.lbf <<<1b) == 1 ]]
  run -1 lanebloom screen -cvdb -f 1 f.lbf <<<1b
  [[ $output == 0 ]]
  lanebloom screen -o -csv f.lbf <<<1
  [[ $(<./-csv) == 1 ]]
}

@test "what follows an option, --, or a verb is no option" {
  seq 3 | lanebloom build -o --sumary
  [[ -e --sumary ]]
  refuses "unrecognized option '--q'" lanebloom build -o x --q
  fails_with "--sumary2: No such file" lanebloom screen -- --sumary2
  refuses "option '--n' is ambiguous" lanebloom screen --n
  refuses "unrecognized option '--=x'" lanebloom hash --=x -- --sumary
  refuses "unrecognized option '--='" lanebloom hash --= -- --sumary
  refuses "option '--output' requires an argument" lanebloom build --output
  refuses "option '--count' doesn't allow an argument" lanebloom screen --count=1
  refuses "option requires an argument -- 'o'" lanebloom build -o
  seq 3 | run -0 lanebloom screen --cou -- --sumary
}

@test "options that are not printable are escaped" {
  for option in $'--\e[31mred' $'--\e[31mred=\e' $'-\e' $'-\xff' $'-\xc3' $'--a\nb'; do
    for verb in "" screen build; do
      run -2 --separate-stderr lanebloom $verb "$option"
      [[ $stderr == *"option "*"'"*"\\"[0-9]* ]]
      [[ -z $(tr -d '\n\040-\176' <<<"$stderr") ]]
    done
  done
}

@test "kernels: the CPU, then kernels with one star" {
  run -0 --separate-stderr lanebloom kernels
  [[ ${#lines[@]} -ge 2 && -n ${lines[0]} && -z $stderr ]]
  [[ $(grep -c '^\* ' <<<"$output") -eq 1 ]]
  [[ ${lines[1]} == "* "*" (best for this CPU)" ||
    ${lines[1]} == "* scalar (QEMU emulates this CPU"* ]]
  [[ $(grep -cE '^..scalar( |$)' <<<"$output") -eq 1 ]]
}

@test "kernels --json agrees with the text" {
  lanebloom kernels >text
  lanebloom kernels --json >json
  [[ $(wc -l <json) -eq 1 ]]
  [[ $(jq -r '.cpu' json) == "$(head -n 1 text)" ]]
  jq -r '.active as $active | .reason as $reason |
    .kernels[] | if . == $active then "* \(.) (\($reason))" else "  " + . end' json |
    cmp - <(tail -n +2 text)
}

@test "kernels --measure --json: a time of every kernel with every format that builds" {
  lanebloom build --format none -o filter 2>&1 |
    sed -n 's/.*one of \(.*\), found.*/\1/p' | tr ' ' '\n' |
    jq -nR '[inputs]' >formats
  jq -e 'length > 0' formats
  lanebloom kernels --json >plain
  timeout 60 "$LANEBLOOM" kernels --measure --json >json
  [[ $(wc -l <json) -eq 1 ]]
  jq 'del(.timings)' json | cmp - <(jq . plain)
  jq -e --slurpfile formats formats '[.timings[] | [.format, .keys]] ==
    [$formats[0][] | [., "absent"], [., "present"]]' json
  jq -e '.kernels as $kernels | .active as $active | all(.timings[];
    (.ns_per_key | keys_unsorted) == $kernels and all(.ns_per_key[]; . > 0) and
    (.fastest | length > 0 and . - $kernels == []) and
    .active_is_fastest == any(.fastest[]; . == $active))' json
  jq -e 'all(.timings[]; .ns_per_key as $ns | ([$ns[]] | min) as $least |
    .fastest == ($ns | to_entries | map(select(.value <= 1.03 * $least) | .key)))' json
}

@test "kernels --measure: a table with a verdict in each row" {
  lanebloom kernels --kernel scalar >list
  timeout 60 "$LANEBLOOM" kernels --kernel scalar --measure >text
  head -n "$(wc -l <list)" text | cmp - list
  tail -n +$(($(wc -l <list) + 1)) text >table
  [[ $(sed -n 1p table) == "" && $(sed -n 2p table) == "Nanoseconds per key"* ]]
  kernels=$(lanebloom kernels --json | jq -r '.kernels | join(" ")')
  [[ $(sed -n 3p table | tr -s ' ') == "FORMAT KEYS ${kernels/scalar/*scalar} FASTEST" ]]
  name="[*]?($(tr ' ' '|' <<<"$kernels"))"
  times=$(for kernel in $kernels; do echo -n ' +[0-9]+[.][0-9]{2}'; done)
  late='; [*]scalar takes [0-9]+ % longer'
  tail -n +4 table >rows
  [[ -s rows ]]
  run -1 grep -vE "^[a-z0-9-]+ +(absent |present)$times  $name((, $name)+ \(tie\))?($late)?$" rows
  # In each row scalar is among the fastest, or the row reports how much longer it takes.
  [[ $(grep -c '[*]scalar' rows) -eq $(wc -l <rows) ]]
}

@test "kernels --measure times nothing if the kernel in use cannot run here" {
  fails_with "--kernel: expected a kernel that runs here, found 'none'" \
    lanebloom kernels --measure --kernel none
  LANEBLOOM_KERNEL=none fails_with "LANEBLOOM_KERNEL: expected a kernel that runs here" \
    lanebloom kernels --measure
}

@test "--kernel and LANEBLOOM_KERNEL choose, the option wins" {
  [[ $(lanebloom kernels --kernel scalar --json | jq -r .active) == scalar ]]
  [[ $(LANEBLOOM_KERNEL=scalar lanebloom kernels --json | jq -r .active) == scalar ]]
  [[ $(lanebloom kernels --json | jq -r '.kernels | length') -eq 1 ]] || {
    [[ $(lanebloom kernels --kernel scalar --json | jq -r .reason) == "chosen by the program" ]]
    [[ $(LANEBLOOM_KERNEL=scalar lanebloom kernels --json | jq -r .reason) == \
      "named by LANEBLOOM_KERNEL" ]]
  }
  [[ $(LANEBLOOM_KERNEL=none lanebloom kernels --kernel scalar --json | jq -r .active) == scalar ]]
  [[ $(LANEBLOOM_KERNEL= lanebloom kernels --json | jq -r .active) == \
    "$(lanebloom kernels --json | jq -r '.kernels[0]')" ]]
}

@test "every verb refuses a kernel that cannot run here, and names what can" {
  numbers 1 10 >keys
  lanebloom build -o filter keys
  commands=("build -o other keys" "screen filter keys" "add filter keys" "merge -o other filter"
    "plan --keys 1 --bits 10" "info filter" "verify filter" "hash keys" "tables keys"
    "extract keys -o other" "screen --db keys" "kernels")
  for verb in "${commands[@]}"; do
    fails_with "--kernel: expected a kernel that runs here, found 'none'" \
      lanebloom $verb --kernel none
    [[ $stderr == *available:*scalar* ]]
    LANEBLOOM_KERNEL=no-such \
      fails_with "LANEBLOOM_KERNEL: expected a kernel that runs here, found 'no-such'" \
      lanebloom $verb
    [[ $stderr == *available:*scalar* ]]
  done
  [[ ! -e other ]]
}

@test "every kernel gives the same answers" {
  numbers 1 5000 >keys
  numbers 1 60000 >rows
  lanebloom build --kernel scalar -o filter keys
  lanebloom screen --kernel scalar filter rows >expected
  lanebloom hash --kernel scalar rows >expected.hashes
  for kernel in $(lanebloom kernels --json | jq -r '.kernels[]'); do
    lanebloom build --kernel $kernel -o filter.$kernel keys
    cmp filter filter.$kernel
    lanebloom screen --kernel $kernel filter rows | cmp expected
    lanebloom hash --kernel $kernel rows | cmp expected.hashes
  done
}
