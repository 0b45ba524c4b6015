/** Builtins and tools that change the shell they are called in, and nothing else. */
const WORDS = [
  ...["export", "declare", "typeset", "readonly", "unset", "local", "let", "read", "mapfile"],
  ...["readarray", "getopts", "set", "shopt", "setopt", "unsetopt", "alias", "unalias", "abbr"],
  ...["source", "\\.", "eval", "function", "autoload", "trap", "umask", "ulimit", "enable"],
  ...["bind", "bindkey", "complete", "compdef", "hash", "activate", "deactivate", "conda", "nvm"],
  ...["pyenv", "rbenv", "sdk", "workon"],
].join("|");
/** Where a command can begin: a line, behind an operator, behind a word of the language. */
const BEGIN = "(?:^|[;&|({\\n]|\\b(?:then|do|else|builtin|command)\\s)\\s*";
const SHELL_COMMAND = new RegExp(`${BEGIN}(?:${WORDS})(?=\\s|[;&|)]|$)`);
/** No part can be read in two ways, so that no line takes long. */
const ASSIGNED =
  "[A-Za-z_]\\w*(?:\\[[^\\]]*\\])?\\+?=(?:\"[^\"]*\"|'[^']*'|\\([^)]*\\)|[^\\s;&|\"'()])*";
/** In front of a command a variable is that command's alone. */
const ASSIGNMENT = new RegExp(`${BEGIN}${ASSIGNED}(?:[ \\t]+${ASSIGNED})*[ \\t]*(?:$|[;&|)}\\n])`);
const FUNCTION = new RegExp(`${BEGIN}[\\w.:-]+\\s*\\(\\)`);
/** Longer ones are scripts, which change something else, too. */
const CHARACTERS_MAX = 4_000;

/**
 * Tells whether a line may change variables, functions or settings of the shell that runs it.
 *
 * It only looks at words: a false yes costs a checkpoint, a false no leaves it to the next one.
 */
export function mayChangeShell(line: string): boolean {
  const text = line.slice(0, CHARACTERS_MAX);
  return SHELL_COMMAND.test(text) || ASSIGNMENT.test(text) || FUNCTION.test(text);
}
