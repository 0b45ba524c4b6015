# Terminals for parts of the walk that need a person at one, on a tmux server of their own.
screens=$WAYPOINT_DIR/screens
clean_up() { tmux -S "$screens" kill-server 2> /dev/null; }

# start_screen NAME COLUMNS ROWS COMMAND
start_screen() {
  tmux -S "$screens" -f /dev/null set -g remain-on-exit on \; set -g status off \; \
    new-session -d -s "$1" -x "$2" -y "$3" "$4"
}
type_keys() { tmux -S "$screens" send-keys -t "$1" -l "$2"; }
print_screen() { tmux -S "$screens" capture-pane -p -t "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }
await_screen() { until print_screen "$1" | grep -q -- "$2"; do sleep 0.1; done; }
# await_compared NAME PATTERN: of the picker, when it has compared what PATTERN selects
await_compared() {
  until screen=$(print_screen "$1") && echo "$screen" | grep -q -- "$2" &&
    ! echo "$screen" | grep -q 'comparing…'; do sleep 0.1; done
}
