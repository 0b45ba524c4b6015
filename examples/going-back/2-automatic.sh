#!/bin/sh
# Checkpoints that take themselves; a restore while somebody types.
. "$(dirname "$0")/walk.sh"
. "$here/examples/going-back/screen.sh"

# Waits until the session has this many checkpoints.
until_taken() {
  until [ "$(waypoint log shop --auto --json | grep -o '"trigger":"auto"' | wc -l)" -ge "$1" ]; do
    sleep 0.1
  done
}

begin automatic
echo '$ waypoint new shop --auto'
start shop --auto
show exec shop -- 'ls /srv'
show exec shop -- 'mkdir /srv/app && echo v1 > /srv/app/version'
until_taken 1
show exec shop -- 'cd /srv/app'
until_taken 2
show auto shop --task-done 'version 1 is in place'
until_taken 3
show log shop

start_screen typist 100 20 "$here/bin/waypoint attach shop"
await_screen typist '[#$] *$'
type_keys typist 'echo half a li'
start_screen asked 110 20 "$here/bin/waypoint restore shop shop@ --yes"
begin typing
printf '$ waypoint restore shop shop@ --yes\n'
await_screen asked 'all the same'
print_screen asked
