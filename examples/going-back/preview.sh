#!/bin/sh
# Prints the commands of "Before a restore", "Parts" and "Undo" in docs/going-back.md with what they
# print. Needs root; its state directory goes when it ends.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
WAYPOINT_DIR=$(mktemp -d)
WAYPOINT_STORE_BYTES=$((4 * 1024 * 1024 * 1024))
export WAYPOINT_DIR WAYPOINT_STORE_BYTES
trap '"$here/bin/waypoint" daemon stop --sessions >/dev/null; rm -r "$WAYPOINT_DIR"' EXIT

waypoint() { "$here/bin/waypoint" "$@"; }
quietly() { waypoint "$@" >/dev/null 2>&1; }
show() {
  printf '$ waypoint'
  for word in "$@"; do case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  waypoint "$@"
  code=$?
  [ $code -eq 0 ] || echo "(exit code $code)"
  echo
}

quietly new web --net none
quietly exec web 'mkdir -p /srv/app && cd /srv/app && echo "port: 80" > app.yaml && echo one > notes'
quietly exec web '(/usr/bin/python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 &)'
sleep 1
quietly checkpoint web --name green
quietly fork green --name try
quietly exec web 'echo "port: 81" > app.yaml; rm notes; mkdir data; echo row > data/rows'
quietly exec web 'pkill -f http.server; (sleep 1000 &)'
quietly checkpoint web --name red

echo '## before'
show restore web green --dry-run
show restore web green --yes
show undo web
echo '## parts'
show restore web green --path app.yaml --yes
show restore web green --except /srv/app/data --yes
quietly restore web red --yes
show restore web red --only processes --yes
echo '## revert'
quietly exec web 'cd /srv/app; echo "port: 99" > app.yaml; echo later > later'
show revert web green red --dry-run
show revert web green red --yes
echo '## undo'
show op log web
