import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";
import { quoteCommand } from "./quote-command.ts";
import { findShell } from "./shell.ts";

type VerifyColumns = Pick<SessionRow, "verifyWords" | "verifyCommand" | "verifyAutomatic">;

/** Returns what a new session's row says of its verify command: that of the one it comes from. */
export function verifyCommandOf(from: VerifyColumns | null): VerifyColumns {
  return {
    verifyWords: from?.verifyWords ?? null,
    verifyCommand: from?.verifyCommand ?? null,
    verifyAutomatic: from?.verifyAutomatic ?? null,
  };
}

/** Chooses the command that a session is verified with, or none. @throws USAGE_INVALID | STORE_FULL */
export function chooseVerifyCommand(
  session: SessionRow,
  { words, automatic }: { words: readonly string[] | null; automatic: boolean },
  engine: Engine,
): void {
  if (words?.join("").trim() === "") {
    throw new WaypointError("USAGE_INVALID", "An empty command verifies nothing.", {
      hint: `\`waypoint verify --unset ${session.name}\` takes the verify command away.`,
    });
  }
  engine.catalog.updateSession(session.id, {
    verifyWords: words === null ? null : JSON.stringify(words),
    verifyCommand: words === null ? null : tellVerifyCommand(session, words, engine),
    verifyAutomatic: automatic ? null : "off",
  });
}

/** Returns a command as its verifications tell it: as a line of the session's shell. */
export function tellVerifyCommand(
  session: Pick<SessionRow, "base" | "shell">,
  words: readonly string[],
  engine: Pick<Engine, "sandbox" | "store">,
): string {
  return quoteCommand(words, findShell(session, engine).dialect);
}

/** Returns the command that a session is verified with, as words. @throws USAGE_INVALID */
export function requireVerifyCommand({
  name,
  verifyWords,
}: Pick<SessionRow, "name" | "verifyWords">): readonly string[] {
  if (verifyWords !== null) return JSON.parse(verifyWords) as string[];
  throw new WaypointError("USAGE_INVALID", `Session ${name} has no verify command.`, {
    hint: `Choose one with \`waypoint verify --set ${name} -- COMMAND\`, or give the command.`,
    detail: { session: name },
  });
}
