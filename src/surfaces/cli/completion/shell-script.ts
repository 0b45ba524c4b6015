import { RootCommand } from "@bomb.sh/tab";
import { collectPrinted } from "./collect-printed.ts";

/** Shells that can be taught. */
export const COMPLETED_SHELLS = ["bash", "zsh", "fish"] as const;

/** What the bash of a machine without the package bash-completion lacks. */
const BASH_WITHOUT_PACKAGE = `
if ! declare -F _get_comp_words_by_ref >/dev/null; then
  _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
    cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
  }
fi
`;

/** The library's bash evaluates what was typed: a `$(…)` would run at Tab. */
const EVALUATED = /requestComp="[\s\S]*?out=\$\(eval "\$requestComp" 2>\/dev\/null\)/;
const ASKED = `out=$(waypoint complete -- "\${words[@]:1:cword}" 2>/dev/null)`;

/**
 * Returns the script that teaches a shell; it asks `waypoint complete -- WORDS…` at each Tab.
 *
 * **Requires** the shell is one of {@link COMPLETED_SHELLS}.
 */
export function shellScript(shell: string): string {
  const script = collectPrinted(() => new RootCommand().setup("waypoint", "waypoint", shell));
  if (shell !== "bash") return script;
  // Whoever reads their startup file again must not be told of variables that are read-only.
  return script.replace(EVALUATED, () => ASKED).replace(/^readonly /gm, "") + BASH_WITHOUT_PACKAGE;
}
