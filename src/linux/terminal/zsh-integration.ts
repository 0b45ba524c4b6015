/**
 * The key sequence of a session's zsh, at `/run/waypoint/keys.zsh`.
 *
 * The widget puts the half-typed line aside and accepts a line that sources init's wrapper, as in
 * bash. It also puts a second sequence into the line editor's own input: zle reads that at the next
 * prompt, whatever became of the command, and there the half-typed line returns. A hook would do
 * the same, but hooks belong to the user, who may replace them.
 *
 * @see docs/init-protocol.md
 */
export const ZSH_KEYS: string = String.raw`# Written by Waypoint; changes are lost.
if [[ -o interactive && -p /run/waypoint/t/${"$"}{WAYPOINT_TERMINAL-}/control ]] && zmodload zsh/zle; then
  typeset -g __waypoint_dir=/run/waypoint/t/$WAYPOINT_TERMINAL __waypoint_keys=1

  __waypoint_begin() {
    emulate -L zsh
    local id show text
    if [[ $CONTEXT != start ]]; then # a command is continued over lines, or reads a line itself
      print busy >$__waypoint_dir/control
      return
    fi
    read -r _ id show <$__waypoint_dir/next
    [[ $id == "${"$"}{__waypoint_id-}" ]] && return # sent twice
    typeset -g __waypoint_line=$BUFFER
    typeset -gi __waypoint_point=$CURSOR __waypoint_rows
    # Shown as if it had been typed; what follows is drawn below it.
    PREDISPLAY= POSTDISPLAY=
    if ((show)) && IFS= read -rd '' -u 0 -k 2000 text <$__waypoint_dir/$id.sh || [[ -n $text ]]; then
      BUFFER=${"$"}{text%$'\n'} CURSOR=$#BUFFER
      zle -R
      zle -I
    fi
    BUFFER=" \\. $__waypoint_dir/next" CURSOR=$#BUFFER
    zle -R
    __waypoint_rows=$BUFFERLINES
    zle -U $'\e[7772~'
    zle .accept-line
  }

  __waypoint_end() {
    local -i code=$?
    BUFFER=${"$"}{__waypoint_line-} CURSOR=${"$"}{__waypoint_point:-0}
    __waypoint_line= __waypoint_point=0
    print prompt $code >$__waypoint_dir/control
  }

  # What a person types is told to init, before and after it runs; see native/init/typed.c.
  __waypoint_tell() {
    emulate -L zsh
    local answer token=$RANDOM$RANDOM
    [[ -p $__waypoint_dir/control && -p $__waypoint_dir/go ]] || return 0
    print -r -- "$1 $token $2" >$__waypoint_dir/control
    while read -t 1 -r answer && [[ $answer != $token ]]; do :; done <$__waypoint_dir/go
  }

  __waypoint_typed() {
    [[ -z $1 || $1 == *" $__waypoint_dir/"* ]] && return
    [[ -o histignorespace && $1 == ' '* ]] && return
    emulate -L zsh
    local text=${"$"}{1[1,4000]//\\/\\\\}
    typeset -g __waypoint_ran=1
    __waypoint_tell typed "${"$"}{text//$'\n'/\\n}"
  }

  __waypoint_done() {
    local -i code=$?
    # zsh knows the name that the host had when it started; a fork has another one.
    [[ -r /proc/sys/kernel/hostname ]] && HOST=$(</proc/sys/kernel/hostname)
    [[ -n ${"$"}{__waypoint_ran-} ]] || return
    unset __waypoint_ran
    __waypoint_tell done $code
  }
  preexec_functions+=(__waypoint_typed)
  precmd_functions=(__waypoint_done $precmd_functions)

  # Returning 1 keeps our line out of the history file, and out of the history after the next one.
  __waypoint_history() { [[ $1 != " \\. $__waypoint_dir/"* ]]; }
  zshaddhistory_functions+=(__waypoint_history)

  zle -N __waypoint_begin
  zle -N __waypoint_end
  for __waypoint_map in emacs viins vicmd; do
    bindkey -M $__waypoint_map '\e[7770~' __waypoint_begin
    bindkey -M $__waypoint_map '\e[7772~' __waypoint_end
  done
  unset __waypoint_map
  print keys >$__waypoint_dir/control
fi
`;

/**
 * The startup files of a session's zsh, in `/run/waypoint/zsh`, named by ZDOTDIR.
 *
 * zsh has no option for one more startup file. So it reads ours first, which read the user's own
 * with the user's own ZDOTDIR.
 */
export const ZSH_ENV = `# Written by Waypoint; changes are lost.
unset ZDOTDIR
[[ \${WAYPOINT_STARTUP_FILES-} == off ]] || { [[ -r ~/.zshenv ]] && . ~/.zshenv; }
[[ -z \${ZDOTDIR+x} ]] || __waypoint_zdotdir=$ZDOTDIR
ZDOTDIR=/run/waypoint/zsh
`;

export const ZSH_RC = `# Written by Waypoint; changes are lost.
unset ZDOTDIR
[[ -z \${__waypoint_zdotdir+x} ]] || export ZDOTDIR=$__waypoint_zdotdir
unset __waypoint_zdotdir
[[ \${HISTFILE-} != /run/waypoint/zsh/* ]] || HISTFILE=\${ZDOTDIR:-$HOME}/\${HISTFILE:t}
[[ \${WAYPOINT_STARTUP_FILES-} == off ]] || { [[ -r \${ZDOTDIR:-$HOME}/.zshrc ]] && . \${ZDOTDIR:-$HOME}/.zshrc; }
unset WAYPOINT_STARTUP_FILES
. /run/waypoint/keys.zsh
`;
