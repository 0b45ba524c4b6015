/**
 * The key sequence of a session's fish, at `/run/waypoint/keys.fish`.
 *
 * The binding puts the half-typed line aside and has a line executed that sources init's wrapper.
 * Afterwards, whatever became of the command, the half-typed line returns. fish takes it from an
 * event of the command's end; one of the prompt comes too late to set the line.
 *
 * @see docs/init-protocol.md
 */
export const FISH_KEYS: string = String.raw`# Written by Waypoint; changes are lost.
set -q WAYPOINT_STARTUP_FILES; and set -e WAYPOINT_STARTUP_FILES
if status is-interactive; and test -p /run/waypoint/t/$WAYPOINT_TERMINAL/control
  set -g __waypoint_dir /run/waypoint/t/$WAYPOINT_TERMINAL
  set -g __waypoint_keys 1

  function __waypoint_begin
    read -l _hash id show <$__waypoint_dir/next
    test "$id" = "$__waypoint_id"; and return # sent twice
    set -g __waypoint_line (commandline)
    set -g __waypoint_point (commandline -C)
    if test "$show" = 1
      printf '\r\e[J%s%s\n' (fish_prompt)[-1] (string collect -N <$__waypoint_dir/$id.sh) >/dev/tty
    end
    commandline -r " source $__waypoint_dir/next"
    commandline -f execute
  end

  function __waypoint_end --on-event fish_postexec
    set -l code $status
    set -q __waypoint_point; or return
    commandline -r -- $__waypoint_line
    commandline -C $__waypoint_point
    set -e __waypoint_line
    set -e __waypoint_point
    printf 'prompt %d\n' $code >$__waypoint_dir/control
  end

  # What a person types is told to init, before and after it runs; see native/init/typed.c. fish keeps
  # lines that begin with a space out of its history, and cannot wait for an answer.
  function __waypoint_typed --on-event fish_preexec
    string match -q -- ' *' $argv[1]; and return
    set -l text (string sub -l 4000 -- $argv[1] | string replace -a '\\' '\\\\' | string join '\\n')
    set -g __waypoint_ran 1
    printf 'typed 0 %s\n' $text >$__waypoint_dir/control
  end

  function __waypoint_done --on-event fish_postexec
    set -l code $status
    set -q __waypoint_ran; or return
    set -e __waypoint_ran
    printf 'done 0 %d\n' $code >$__waypoint_dir/control
  end

  for __waypoint_mode in default insert visual
    bind -M $__waypoint_mode \e\[7770~ __waypoint_begin
  end
  set -e __waypoint_mode
  printf 'keys\n' >$__waypoint_dir/control
end
`;
