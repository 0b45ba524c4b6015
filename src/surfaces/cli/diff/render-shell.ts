import type { Changes, NamedChange } from "../../../shared/protocol/index.ts";
import { printable, printableLines } from "../text/printable.ts";
import { hideSecret } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { renderMark } from "./render-mark.ts";

/** Longest value of a variable that is shown. */
const VALUE_CHARS_MAX = 200;

/** Returns what differs of the shell: its directory, environments, variables and functions. */
export function renderShell(
  { cwd, virtualenv, env, functions }: Changes,
  { paint, isBrief }: { paint: Paint; isBrief: boolean },
): string[] {
  return [
    ...renderPlace("directory", cwd, paint),
    ...renderPlace("virtualenv", virtualenv, paint),
    ...(env ?? []).map((each) => {
      const values = isBrief ? "" : `=${renderValues(each)}`;
      return `${renderMark(each.change, paint)} env ${printable(each.name)}${values}`;
    }),
    ...(functions ?? []).map(
      ({ name, change }) => `${renderMark(change, paint)} function ${printable(name)}`,
    ),
  ];
}

/** Returns how functions are written that were added or modified. */
export function renderFunctionTexts({ functions }: Changes, paint: Paint): string[] {
  return (functions ?? []).flatMap(({ after }) =>
    after === null
      ? []
      : [
          "",
          ...printableLines(after)
            .split("\n")
            .map((line) => paint("green", `+${line}`)),
        ],
  );
}

function renderPlace(word: string, place: Changes["cwd"], paint: Paint): string[] {
  if (place === null || place.before === place.after) return [];
  const [before, after] = [place.before, place.after].map((each) =>
    each === null ? "-" : printable(each),
  );
  return [`${renderMark("modified", paint)} ${word} ${before} → ${after}`];
}

function renderValues({ name, before, after }: NamedChange): string {
  const [was, is] = [before, after].map((value) =>
    value === null ? null : shorten(printable(hideSecret(name, value))),
  );
  if (was === null || is === null) return is ?? was ?? "";
  return was === is ? `${is} (changed)` : `${was} → ${is}`;
}

function shorten(value: string): string {
  return value.length <= VALUE_CHARS_MAX ? value : `${value.slice(0, VALUE_CHARS_MAX)}…`;
}
