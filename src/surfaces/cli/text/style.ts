import { styleText } from "node:util";

/** How text can be set off. */
export type TextFormat = Parameters<typeof styleText>[0];

/** Sets text off, or returns it as it is. */
export type Paint = (format: TextFormat, text: string) => string;

/** Leaves text as it is. */
export const plain: Paint = (_format, text) => text;

/** When to print in colours: on a terminal that obeys them, or in any case, or never. */
export type Colours = "auto" | "always" | "never";

/** Returns how to paint text for `stream`; NO_COLOR goes before what was chosen. */
export function paintFor(
  stream: { isTTY?: boolean },
  env: NodeJS.ProcessEnv,
  colours: Colours = "auto",
): Paint {
  const noColor = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "";
  const isAble = stream.isTTY === true && env["TERM"] !== "dumb";
  if (noColor || colours === "never" || (colours === "auto" && !isAble)) return plain;
  return (format, text) => styleText(format, text, { validateStream: false });
}
