import type { Changes } from "../../../shared/protocol/index.ts";
import type { SummaryPart } from "../section.ts";

/** Variables and functions that the summary names. */
const NAMED_MAX = 2;
/** What comes and goes with an activated Python environment. */
const VIRTUALENV_NAMES = /^(PATH|VIRTUAL_ENV.*|CONDA_.*|PS1|deactivate)$/;

/** Returns what became of the shell: "cd /srv, venv shop, env DEBUG, function greet". */
export function summarizeShell({ cwd, virtualenv, env, functions }: Changes): SummaryPart {
  const isMoved = cwd !== null && cwd.before !== cwd.after;
  const isActivated = virtualenv !== null && virtualenv.before !== virtualenv.after;
  const own = (changes: Changes["env"]) =>
    (changes ?? [])
      .map(({ name }) => name)
      .filter((name) => !isActivated || !VIRTUALENV_NAMES.test(name));
  const named = [
    ...(isMoved ? [`cd ${cwd.after}`] : []),
    ...(isActivated ? [`venv ${baseName(virtualenv.after) ?? "off"}`] : []),
    ...tellNames(own(env), "env", "variables"),
    ...tellNames(own(functions), "function", "functions"),
  ];
  return { named, counted: [] };
}

function tellNames(names: readonly string[], word: string, many: string): string[] {
  if (names.length === 0) return [];
  if (names.length > NAMED_MAX) return [`${names.length} ${many}`];
  return [`${names.length === 2 && word === "function" ? many : word} ${names.join(", ")}`];
}

function baseName(path: string | null): string | null {
  return path === null ? null : path.slice(path.lastIndexOf("/") + 1);
}
