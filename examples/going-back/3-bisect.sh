#!/bin/sh
# The first bad checkpoint, and looking around.
. "$(dirname "$0")/walk.sh"
. "$here/examples/going-back/screen.sh"

start web --net none > /dev/null
for step in 0 1 2 3 4 5 6 7 8 9 10 11 12; do
  quietly exec web "echo $step > /root/n"
  [ $step -eq 8 ] && quietly exec web 'touch /root/broken'
  quietly checkpoint web -m "step $step" --files-only
done

begin bisect
show bisect web@~12 web@ -n 2 -- 'test ! -e /root/broken'

start_screen picker 120 16 "$here/bin/waypoint rewind web"
await_screen picker 'step 12'
for key in 1 2 3; do tmux -S "$screens" send-keys -t picker Up; done
await_screen picker '^> .*step 9'
await_compared picker '│ [a-z0-9]* step 9'
begin rewind
print_screen picker
