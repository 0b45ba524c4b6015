# What every part of the walk through docs/going-back.md begins with. Needs root.
#
# It prints transcripts: a line `== name`, then commands with what they print. The state directory
# is the walk's own, and goes when it ends.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
WAYPOINT_DIR=$(mktemp -d)
WAYPOINT_STORE_BYTES=$((4 * 1024 * 1024 * 1024))
export WAYPOINT_DIR WAYPOINT_STORE_BYTES
export COLUMNS=200 TZ=UTC LC_ALL=C.UTF-8 NO_COLOR=1
# A walk may put here what it leaves outside of the state directory.
clean_up() { :; }
trap 'clean_up; "$here/bin/waypoint" daemon stop --sessions > /dev/null; rm -r "$WAYPOINT_DIR"' EXIT
trap 'exit 130' HUP INT TERM

waypoint() { "$here/bin/waypoint" "$@"; }
quietly() { waypoint "$@" > /dev/null 2>&1; }
# Starts a session whose shell reads no start-up files: what these start is no part of the walk.
start() { waypoint new "$@" --env HOME=/none; }
begin() { printf '== %s\n' "$1"; }

# Prints a command of ours as it is typed, and what it prints.
show() {
  printf '$ waypoint'
  for word in "$@"; do
    case $word in *[' ;&|']*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  waypoint "$@" 2>&1
  code=$?
  [ $code -eq 0 ] || echo "(exit code $code)"
}

# Prints a line of shell on this machine, and what it prints.
host() {
  printf '$ %s\n' "$1"
  eval "$1"
}

# A process that was told to end may take a moment: waits until a session has none like this.
gone() {
  while waypoint ps "$1" | grep -q "$2"; do sleep 0.1; done
}
