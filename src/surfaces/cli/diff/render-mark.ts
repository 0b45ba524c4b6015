import type { FileChange } from "../../../shared/protocol/index.ts";
import type { Paint, TextFormat } from "../text/style.ts";

/** What happened to something. */
export type Mark = FileChange["change"];

const MARKS: Readonly<Record<Mark, readonly [string, TextFormat]>> = {
  added: ["+", "green"],
  modified: ["~", "yellow"],
  deleted: ["-", "red"],
  renamed: [">", "cyan"],
};

/** Returns the sign with which a line of a difference begins. */
export function renderMark(mark: Mark, paint: Paint): string {
  const [sign, colour] = MARKS[mark];
  return paint(colour, sign);
}
