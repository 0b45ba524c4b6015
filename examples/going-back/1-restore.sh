#!/bin/sh
# Before a restore, parts of a checkpoint, what happened between two, undo.
. "$(dirname "$0")/walk.sh"

start web --net none > /dev/null
quietly exec web 'mkdir -p /srv/app && cd /srv/app && echo "port: 80" > app.yaml && echo one > notes; seq 5 > list'
quietly exec web '(/usr/bin/python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 &)'
until waypoint exec web -- "bash -c '< /dev/tcp/127.0.0.1/8123'" > /dev/null 2>&1; do sleep 0.1; done
quietly checkpoint web --name green
quietly fork green --name try
quietly exec web 'echo "port: 81" > app.yaml; rm notes; sed -i s/2/two/ list; mkdir data; echo row > data/rows'
quietly exec web 'pkill -f http.server; (sleep 1000 &)'
gone web http.server
quietly checkpoint web --name red

begin plan
show restore web green --dry-run
begin restored
show restore web green --yes
quietly undo web

begin paths
show restore web green --path app.yaml --yes
echo
show restore web green --except /srv/app/data --yes
quietly restore web red --yes
begin processes
show restore web red --only processes --yes

quietly exec web 'cd /srv/app; echo "port: 99" > app.yaml; sed -i s/5/five/ list; echo later > later'
begin revert-plan
show revert web green red --dry-run
begin reverted
show revert web green red --yes
show exec web -- cat list

begin operations
show op log web
