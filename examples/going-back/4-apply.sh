#!/bin/sh
# Out of the sandbox, and from branch to branch.
. "$(dirname "$0")/walk.sh"
# It stands on this machine's root; the name that is printed is shorter.
work=$(mktemp -d /var/tmp/app-XXXXXX)
clean_up() { rm -r "$work"; }
shown() { sed "s|$work|/srv/app-demo|g"; }

printf 'port = 80\nhost = localhost\nlog = info\n' > "$work/app.conf"
echo old > "$work/old.txt"
start web --net none > /dev/null
quietly exec web "cd $work && sed -i 's/port = 80/port = 8080/' app.conf && rm old.txt && echo hi > notes.md"
quietly checkpoint web --name done
# What the base has is noted with the story, in the background; nobody is as quick as a script.
quietly show done
sed -i 's/log = info/log = debug/' "$work/app.conf"

begin apply-plan
show apply web@ "$work" --dry-run | shown
begin patch
show apply web@ "$work" --to "$work" --patch | shown
begin apply
show apply web@ "$work" | shown
{
  host "cat $work/app.conf"
  host "echo mine > $work/notes.md"
  show apply --undo
} | shown

quietly fork done --name try
quietly exec web "sed -i 's/port = 8080/port = 7070/' $work/app.conf"
quietly exec try "sed -i -e 's/port = 8080/port = 9090/' -e 's/log = info/log = warn/' $work/app.conf"
quietly exec try "echo there > $work/notes.md"
quietly checkpoint try
begin merge
{
  show merge web try@
  show exec web -- cat "$work/app.conf"
} | shown
