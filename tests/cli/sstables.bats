# screen --db and tables, for SSTables of Cassandra and ScyllaDB. tests/frozen/ compares the filters
# with those of Cassandra.
# SPDX-License-Identifier: MIT
load helper

# sstable FORMAT FILE [OPTION...] <keys: writes the filter of an SSTable
sstable() {
  mkdir -p "$(dirname "$2")"
  lanebloom build --raw --bits 20 --format "$1" -o "$2" "${@:3}"
}

@test "the version in the name of a file says which format its filter has" {
  numbers 1 300 >keys
  while read -r format version file; do
    sstable $format "folder-$version/$file" <keys
    touch "folder-$version/${file%Filter.db}Data.db"
    lanebloom screen --db "folder-$version" keys | cmp - keys
    numbers 301 1300 >absent
    [[ $(lanebloom screen -c --db "folder-$version/$file" absent) -lt 5 ]]
    lanebloom screen --which -m 1 --db "folder-$version" keys |
      diff - <(printf "folder-$version/${file%Filter.db}Data.db\tkey-00000001\n")
    lanebloom tables --no-header "folder-$version" >row
    read -r path found_version found_format nbytes nprobes nkeys rate <row
    [[ $path == *Data.db && $found_version == "$version" && $found_format == "$format" ]]
    [[ $nbytes -eq $(stat -c %s "folder-$version/$file") && $nprobes -eq 14 && $rate == *% ]]
    [[ $nkeys -gt 280 && $nkeys -lt 320 ]]
  done <<'EOF'
cassandra-2 jb ks-table-jb-7-Filter.db
cassandra-2 ka ks-table-ka-7-Filter.db
cassandra-2 la la-7-big-Filter.db
cassandra-3 ma ma-7-big-Filter.db
cassandra-3 me me-3g7k_098r_4wtqo2asamoc1i8h9n-big-Filter.db
cassandra-3 ms ms-7-big-Filter.db
cassandra na na-7-big-Filter.db
cassandra nb nb-3gaf_0u5y_3gk1c2qqfvqmlv8z3x-big-Filter.db
cassandra oa oa-7-big-Filter.db
cassandra da da-7-bti-Filter.db
EOF
}

@test "keys of every type are serialized as Cassandra does" {
  python3 "$BATS_TEST_DIRNAME/sstables.py" .
  [[ $(ls ./*.text | wc -l) -eq 7 ]]
  for text in *.text; do
    types=${text%.text}
    sstable cassandra "db-$types/nb-1-big-Filter.db" --decode hex "$types.hex"
    lanebloom screen --type "$types" --db "db-$types" "$text" | cmp - "$text"
    lanebloom screen -j 2 --raw --format cassandra --type "$types" "db-$types/nb-1-big-Filter.db" \
      "$text" | cmp - "$text"
  done
  awk -F '\t' '{ print "x," $2 "," $1 }' text,int.text | grep -v '"' >rows
  lanebloom screen -d , -f 3,2 --type text,int --db db-text,int rows | cmp - rows
  printf '\0\6user26\0\0\4\377\377\377\376\0' >key # as a server wrote it
  sstable cassandra one/oa-1-big-Filter.db --width 16 key
  [[ $(lanebloom screen -c --type text,int --db one <<<$'user26\t-2') -eq 1 ]]
}

@test "text that is no key of these types" {
  seq 3 | sstable cassandra db/nb-1-big-Filter.db
  while IFS='|' read -r types text message; do
    printf "$text\n" >input
    fails_with "input: line 1: column $message" lanebloom screen --type "$types" --db db input
    run -1 lanebloom screen --type "$types" --missing=drop --db db input
  done <<'EOF'
int|2147483648|1: expected a whole number from -2147483648 to 2147483647
int||1: expected a whole number
bigint|1x|1: expected a whole number from -9223372036854775808
uuid|123|1: expected a UUID
blob|0x123|3: expected an even number of hexadecimal digits, found 3
blob|0x1g|4: expected a hexadecimal digit, found 'g'
text,int|a\tb|3: expected a whole number
text,int|a|1: expected 2 columns with tabs between them, found 1
text,int|a\t1\t2|1: expected 2 columns with tabs between them, found 3
EOF
  { head -c 65536 /dev/zero | tr '\0' x; printf '\t1\n'; } >input
  fails_with "column 1: expected columns of at most 65535 bytes, found 65536" \
    lanebloom screen --type text,int --db db input
}

@test "several SSTables, and SSTables without a filter" {
  numbers 1 10 | sstable cassandra db/nb-9-big-Filter.db
  numbers 11 20 | sstable cassandra db/nb-10-big-Filter.db
  numbers 21 30 | sstable cassandra-3 db/md-2-big-Filter.db
  numbers 1 40 >keys
  lanebloom screen --db db keys | cmp - <(head -n 30 keys)
  lanebloom screen -v --db db keys | cmp - <(tail -n 10 keys)
  lanebloom screen --which -c --db db keys |
    diff - <(printf 'db/%s-big-Filter.db\t10\n' md-2 nb-9 nb-10)
  [[ $(lanebloom screen -c --db db/nb-9-big-Filter.db --db db/nb-10-big-Filter.db keys) -eq 20 ]]
  : >db/nb-11-big-Filter.db
  touch db/nb-12-big-Data.db db/nb-12-big-Index.db db/nb-12-big-TOC.txt
  run --separate-stderr lanebloom screen -c --db db keys
  [[ $status -eq 0 && $output -eq 40 ]]
  [[ $stderr == "lanebloom: db/nb-11-big-Filter.db: warning: no filter: every key may be in it "* ]]
  [[ ${#stderr_lines[@]} -eq 1 && $stderr == *"(and 1 more)" ]]
  lanebloom tables db >rows
  [[ $(head -n 1 rows) =~ ^FILE\ +VERSION\ +FILTER\ +BYTES\ +PROBES\ +KEYS\ +RATE$ ]]
  [[ $(tail -n 1 rows) =~ ^db/nb-12-big-Data.db\ +nb\ +none\ +-\ +-\ +-\ +100%$ ]]
  [[ $(lanebloom tables --json db | jq -r .filter | tr '\n' ' ') == "full full full none none " ]]
  lanebloom tables --json db/nb-9-big-Filter.db | jq -e '.engine == "cassandra" and
    .version == "nb" and .format == "cassandra" and .probes == 14 and .keys_estimate == 10'
}

@test "filters are described one at a time" {
  [[ -z ${SANITIZERS-} ]] && address_space_can_be_limited ||
    skip "sanitizers and emulators take memory of their own"
  mkdir one several
  numbers 1 10 | sstable cassandra one/nb-1-big-Filter.db --expected 8M
  for i in {1..8}; do
    ln -s ../one/nb-1-big-Filter.db several/nb-$i-big-Filter.db
  done
  several=$(peak "$LANEBLOOM" tables several)
  one=$(peak "$LANEBLOOM" tables one)
  [[ $several -lt $((one + 10000)) ]]
  [[ $(lanebloom tables --no-header several | wc -l) -eq 8 ]]
}

@test "names that are no SSTables, and SSTables that cannot be read" {
  mkdir db
  numbers 1 10 | sstable cassandra db/nb-1-big-Filter.db
  touch db/tmp-la-2-big-Data.db db/ks-t-tmp-ka-1-Data.db db/nb-1-big-Index.db db/xFilter.db
  [[ $(lanebloom tables --no-header db | wc -l) -eq 1 ]]
  for name in {x,pa-2-xyz,nb-2-big-v2}-Filter.db {NB,n,nbx}-2-big-Data.db; do
    cp db/nb-1-big-Filter.db db/$name
    fails_with "expected a name of an SSTable, such as nb-7-big-Filter.db, found another" \
      lanebloom screen --db db /dev/null
    run -2 --separate-stderr lanebloom tables --no-header db
    [[ $stderr == *"found another: move the file away"* && ${#lines[@]} -eq 1 ]]
    rm db/$name
  done
  mkfifo db/nb-2-big-Filter.db
  fails_with "expected a regular file" lanebloom screen --db db /dev/null
  rm db/nb-2-big-Filter.db
  cp "$SOURCE_DIR/tests/vectors/tables/goleveldb_bloom10.ldb" db/000004.ldb
  fails_with "db: expected either SSTables of Cassandra or a database, found files of both: move" \
    lanebloom screen --db db /dev/null
  fails_with "found files of both" lanebloom tables db
  rm db/000004.ldb
  for n in 1 8 9 30; do
    head -c $n db/nb-1-big-Filter.db >cut
    mkdir "db$n"
    mv cut "db$n/nb-3-big-Filter.db"
    run -2 --separate-stderr lanebloom screen --db "db$n" /dev/null
    [[ $stderr == "lanebloom: db$n/nb-3-big-Filter.db: expected "* && -z $output ]]
    run -2 --separate-stderr lanebloom tables "db$n"
    [[ -z $output ]]
  done
  mkdir new
  touch new/pa-1-big-Data.db
  fails_with "found version pa; a newer lanebloom may read it" lanebloom screen --db new /dev/null
  fails_with "absent/nb-1-big-Filter.db: No such file" \
    lanebloom screen --db absent/nb-1-big-Filter.db /dev/null
  fails_with "found a folder of SSTables of Cassandra: " \
    lanebloom screen --parquet db --column a /dev/null
  fails_with "expected a lanebloom container, found an SSTable of Cassandra: " \
    lanebloom info db/nb-1-big-Filter.db
}

@test "options that do not apply" {
  numbers 1 10 | sstable cassandra db/nb-1-big-Filter.db
  lanebloom build -o f.lbf <<<a
  for verb in "screen --db db --db" "tables db"; do
    fails_with "f.lbf: expected SSTables of Cassandra, as in db, found something else: name it" \
      lanebloom $verb f.lbf
    fails_with "none: No such file" lanebloom $verb none
  done
  fails_with "do not apply to SSTables" lanebloom screen --all-files --db db /dev/null
  fails_with "do not apply to SSTables" lanebloom tables --all-files db
  mkdir empty
  fails_with "--type applies to SSTables of Cassandra" \
    lanebloom screen --type int --db empty /dev/null
  refuses "--type needs --db PATH with SSTables" lanebloom screen --type int f.lbf
  refuses "expected a list of the types text, int, bigint, uuid and blob, found 'text,'" \
    lanebloom screen --type text, --db db
  refuses "--type: expected at most 64 columns, found more" \
    lanebloom screen --type "int$(printf ',int%.0s' {1..64})" --db db
  lanebloom screen --type "int$(printf ',int%.0s' {1..63})" --db db /dev/null || [[ $? -eq 1 ]]
  refuses "found 'varint'" lanebloom screen --type varint --db db
  refuses "give only one of --type, --decode, --digest, --lower and --upper" \
    lanebloom screen --type int --decode int32 --db db
  refuses "expected as many fields as --type has columns, which are 1, found 2" \
    lanebloom screen --type int -f 1,2 --db db
}

# A compaction renames files while the folder is listed, so one list may lack a file.
@test "a list that lacks an SSTable is not believed" {
  [[ -z ${SANITIZERS-} ]] || skip "a sanitizer must be loaded first"
  cat >hide.c <<'EOF'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
static int nlists;
DIR *opendir(const char *path)
{
  DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
  nlists += strcmp(path, "db") == 0;
  return real(path);
}
struct dirent *readdir(DIR *folder)
{
  struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
  struct dirent *entry = real(folder);
  while (entry && nlists == atoi(getenv("HIDDEN_IN")) && strncmp(entry->d_name, "nb-2-", 5) == 0)
    entry = real(folder);
  return entry;
}
struct dirent64 *readdir64(DIR *folder)
{
  return (struct dirent64 *)readdir(folder);
}
EOF
  "${CC:-cc}" -shared -fPIC -o hide.so hide.c -ldl
  numbers 1 10 | sstable cassandra db/nb-1-big-Filter.db
  numbers 11 20 | sstable cassandra db/nb-2-big-Filter.db
  numbers 1 20 >keys
  for list in {0..8}; do
    found=$(HIDDEN_IN=$list LD_PRELOAD="$PWD/hide.so" "$LANEBLOOM" screen -c --db db keys)
    [[ $found == 20 ]]
  done
}
