import { readlinkSync } from "node:fs";
import { isatty } from "node:tty";
import type { ToldClient } from "../../shared/protocol/index.ts";

/** Through what a person or a program asks: this process's own, or of one question. */
export type Surface = "cli" | "terminal" | "sdk";

let ownSurface: Surface = "sdk";
let ownTty: string | null | undefined;

/** Says once what this process is. @defaultValue a program with the SDK */
export function declareSurface(surface: Surface): void {
  ownSurface = surface;
}

/** Returns what this process says of itself, with each request. */
export function toldClient(surface: Surface = ownSurface): ToldClient {
  const { SUDO_USER: sudoUser = "" } = process.env;
  ownTty ??= findTty();
  return {
    surface,
    ...(sudoUser === "" ? {} : { sudoUser }),
    ...(ownTty === null ? {} : { tty: ownTty }),
  };
}

function findTty(): string | null {
  try {
    const fd = [0, 2, 1].find((each) => isatty(each));
    return fd === undefined ? null : readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}
