/**
 * The startup file of a session's bash, at `/run/waypoint/bashrc` (`bash --rcfile … -i`).
 *
 * After the user's own startup files it binds a key sequence with which init, that owns the other
 * side of the terminal, has a command run as if it had been typed: the half-typed line is put
 * aside, a line that sources init's wrapper is accepted in its place, and at the next prompt the
 * half-typed line returns. Accepting a line, instead of running the command inside the key binding,
 * gives commands the terminal settings, job control, Ctrl-C and `$?` of any typed command.
 *
 * @see docs/init-protocol.md
 */
export const BASH_RC: string = String.raw`# Written by Waypoint; changes are lost.
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[[ ${"$"}{WAYPOINT_STARTUP_FILES-} == off ]] || { [ -r ~/.bashrc ] && . ~/.bashrc; }
unset WAYPOINT_STARTUP_FILES

if [[ -p /run/waypoint/t/${"$"}{WAYPOINT_TERMINAL-}/control ]]; then
  __waypoint_dir=/run/waypoint/t/$WAYPOINT_TERMINAL

  __waypoint_none=
  # Whether a command is continued over lines: PS2 sets it, each new prompt clears it.
  __waypoint_watch_lines() {
    [[ $PS2 == *__waypoint_more=1* ]] || PS2='${"$"}{__waypoint_none:$((__waypoint_more=1)):0}'$PS2
    [[ " ${"$"}{PROMPT_COMMAND[*]} " == *__waypoint_more=0* ]] || PROMPT_COMMAND+=('__waypoint_more=0')
  }

  # Shows the command behind the last line of the prompt, as typing it would.
  __waypoint_show() {
    local line first=1 prompt=$1
    while IFS= read -r line || [[ -n $line ]]; do
      if ((first)); then printf '%s%s\n' "${"$"}{prompt//[$'\001\002']/}" "$line"; else printf '> %s\n' "$line"; fi
      first=0
    done <"$__waypoint_dir/$2.sh" >/dev/tty
  }

  # What a person types is told to init, before and after it runs; see native/init/typed.c. Whatever the
  # shell keeps out of its history, a line that begins with a space for instance, is not told.
  __waypoint_tell() {
    local answer token=$SRANDOM
    [[ -p $__waypoint_dir/control && -p $__waypoint_dir/go ]] || return 0
    printf '%s\n' "$1 $token $2" >"$__waypoint_dir/control"
    while read -t 1 -r answer && [[ $answer != "$token" ]]; do :; done <"$__waypoint_dir/go"
  }

  # Runs in a process of its own, of PS0.
  __waypoint_typed() {
    local line text
    line=$(HISTTIMEFORMAT= history 1)
    [[ $line =~ ^\ *([0-9]+)[*\ ]\ (.*) ]] || return 0
    text=${"$"}{BASH_REMATCH[2]:0:4000}
    # Only a new line of the history is what was typed; without rules also one that repeats the last.
    if [[ ${"$"}{BASH_REMATCH[1]} == "${"$"}{__waypoint_number-}" ]]; then
      [[ :${"$"}{HISTCONTROL-}: != *:ignore@(space|both):* && -z ${"$"}{HISTIGNORE-} ]] || return 0
    fi
    text=${"$"}{text//\\/\\\\}
    __waypoint_tell typed "${"$"}{text//$'\n'/\\n}"
  }

  # The shell knows the name that the host had when it started; a fork has another one.
  __waypoint_name_host() {
    local name=
    read -r name </proc/sys/kernel/hostname && [[ -n $name && $name != "$HOSTNAME" ]] || return
    HOSTNAME=$name __waypoint_host=$name
    PS1=${"$"}{PS1//\\[hH]/'${"$"}{__waypoint_host}'}
  }

  __waypoint_done() {
    local status=$? last='\!'
    __waypoint_name_host
    # Our own commands stay out of the history: its number is the same, and need not be asked for,
    # for which bash would have to fork.
    if [[ -n ${"$"}{__waypoint_ours+x} && -n ${"$"}{__waypoint_number+x} ]]; then
      unset __waypoint_ours
      return "$status"
    fi
    last=${"$"}{last@P}
    # It is 1 also while there is none.
    [[ $last != 1 || -n $(fc -l -1) ]] || last=0
    __waypoint_number=$last
    unset __waypoint_ours
    ((${"$"}{__waypoint_ran:-0})) || return "$status"
    __waypoint_ran=0
    __waypoint_tell done "$status"
    return "$status"
  }

  # Before 5.1 there is one PROMPT_COMMAND only, which is the user's.
  __waypoint_watch_typing() {
    ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)) && shopt -q promptvars || return 0
    [[ ${"$"}{PS0-} == *__waypoint_typed* ]] ||
      PS0='${"$"}{__waypoint_ours-${"$"}{__waypoint_none:$((__waypoint_ran=1)):0}$({ __waypoint_typed; } 2>/dev/null)}'${"$"}{PS0-}
    [[ " ${"$"}{PROMPT_COMMAND[*]-} " == *__waypoint_done* ]] ||
      PROMPT_COMMAND=('{ __waypoint_done; } 2>/dev/null' "${"$"}{PROMPT_COMMAND[@]}")
  }

  __waypoint_begin() {
    local status=$? id show prompt visible
    if ((${"$"}{__waypoint_more:-0})); then
      __waypoint_watch_lines
      bind '"\e[7773~": ""'
      printf 'busy\n' >"$__waypoint_dir/control"
      return "$status"
    fi
    read -r _ id show <"$__waypoint_dir/next"
    if [[ $id == "${"$"}{__waypoint_id-}" ]]; then # sent twice
      bind '"\e[7773~": ""'
      return "$status"
    fi
    __waypoint_line=$READLINE_LINE __waypoint_point=$READLINE_POINT
    READLINE_LINE=" \\. $__waypoint_dir/next"
    READLINE_POINT=${"$"}{#READLINE_LINE}
    prompt=${"$"}{PS1@P}
    prompt=${"$"}{prompt##*$'\n'}
    visible=$prompt
    while [[ $visible == *$'\001'*$'\002'* ]]; do visible=${"$"}{visible%%$'\001'*}${"$"}{visible#*$'\002'}; done
    __waypoint_rows=$(((${"$"}{#visible} + ${"$"}{#READLINE_LINE}) / (COLUMNS > 0 ? COLUMNS : 80) + 1))
    ((show)) && __waypoint_show "$prompt" "$id"
    # The wrapper gives it back; until then the line must stay out of the history.
    [[ :${"$"}{HISTCONTROL-}: == *:ignore@(space|both):* ]] || {
      __waypoint_history=${"$"}{HISTCONTROL-}
      HISTCONTROL=ignorespace
    }
    __waypoint_ours=
    bind '"\e[7773~": "\C-m\e[7772~"'
    return "$status"
  }

  __waypoint_end() {
    local status=$?
    READLINE_LINE=${"$"}{__waypoint_line-} READLINE_POINT=${"$"}{__waypoint_point:-0}
    __waypoint_line= __waypoint_point=0
    unset __waypoint_ours
    __waypoint_watch_lines
    __waypoint_watch_typing
    printf 'prompt %d\n' "$status" >"$__waypoint_dir/control"
    return "$status"
  }

  __waypoint_watch_lines
  __waypoint_watch_typing
  for __waypoint_map in emacs vi-insert vi-command; do
    bind -m "$__waypoint_map" -x '"\e[7771~": __waypoint_begin'
    bind -m "$__waypoint_map" -x '"\e[7772~": __waypoint_end'
    bind -m "$__waypoint_map" '"\e[7770~": "\e[7771~\e[7773~"'
  done 2>/dev/null
  unset __waypoint_map
fi
`;
