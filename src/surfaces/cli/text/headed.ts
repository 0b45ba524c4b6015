import type { Paint } from "./style.ts";

/** Returns lines below a heading and an empty line; nothing where there are none. */
export function headed(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0 ? [] : ["", paint("bold", title), ...lines];
}
