import { styleText } from "node:util";

/** How text can be set off. */
export type TextFormat = Parameters<typeof styleText>[0];

/** Sets text off, or returns it as it is. */
export type Paint = (format: TextFormat, text: string) => string;

/** Leaves text as it is. */
export const plain: Paint = (_format, text) => text;

/** Returns how to paint text for `stream`: in colours only on a terminal that wants them. */
export function paintFor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const noColor = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "";
  if (stream.isTTY !== true || noColor || env["TERM"] === "dumb") return plain;
  return (format, text) => styleText(format, text, { validateStream: false });
}
