import { hasCode } from "../../../shared/errors/index.ts";
import type { OperationInput, Session } from "../../../shared/protocol/index.ts";
import { type CommandContext, call, note } from "../context.ts";
import { policyText } from "../read-policy.ts";
import { asHere } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import type { ConfigKey } from "./keys.ts";
import { type Config, readConfig } from "./read-config.ts";

/**
 * Returns what a command needs of the config files, and says which of its keys the directory's file
 * may not set.
 *
 * @throws CONFIG_INVALID  a file cannot be used: nothing is done by half of what somebody wanted.
 */
export async function configFor(
  context: CommandContext,
  keys: readonly ConfigKey[],
): Promise<Config["settings"]> {
  const { settings, held, problems } = await readConfig();
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  const told = tellHeld(held.filter(({ key }) => keys.includes(key)));
  if (told !== null) note(context, told);
  return settings;
}

/** Returns the one sentence about keys that the directory's file may not set. */
export function tellHeld(held: Config["held"]): string | null {
  const [first] = held;
  if (first === undefined) return null;
  const keys = held.map(({ key }) => key).join(", ");
  if (first.isAllowed) {
    return `${printable(first.file)} sets ${keys} in vain: your own file's policy stays, and it names no file.`;
  }
  return (
    `${printable(first.file)} sets ${keys}, which a directory's file may not do by itself. ` +
    "If you have read it and want that, run `waypoint config --allow`."
  );
}

/** Returns the keys that detach: as typed, else as the config files have them. */
export async function detachKeysFor(
  context: CommandContext,
  typed: string | undefined,
): Promise<string> {
  if (typed !== undefined) return typed;
  return String((await configFor(context, ["detach-keys"]))["detach-keys"].value);
}

/** Returns the globs of names that lines of the timeline leave out. */
export async function noiseFor(context: CommandContext): Promise<readonly string[]> {
  return [(await configFor(context, ["noise"])).noise.value ?? []].flat();
}

/**
 * Starts a session as it was asked for, and where nothing was asked as the config files have it.
 *
 * **On failure** of the verify command's choice the session runs without one, which is said.
 */
export async function startSession(
  context: CommandContext,
  typed: OperationInput<"new">,
): Promise<Session> {
  const keys = ["verify", "auto", "base", "approve"] as const;
  const { verify, auto, base, approve } = await configFor(context, keys);
  const isOwnPolicy = typed.approve !== undefined || approve.value === null;
  const chosen = {
    ...(auto.value === null ? {} : { auto: String(auto.value) }),
    ...(base.value === null ? {} : { base: String(base.value) }),
    ...(isOwnPolicy ? {} : { approve: policyText(String(approve.value)) }),
  };
  const session = await call(context, "new", asHere({ ...chosen, ...typed })).catch((error) => {
    const isOfBase = hasCode(error, "BASE_NOT_FOUND") || hasCode(error, "BASE_INVALID");
    if (typed.base === undefined && base.file !== null && isOfBase) {
      note(context, `The base is the one that ${printable(base.file)} sets, line ${base.line}.`);
    }
    throw error;
  });
  if (verify.value === null) return session;
  const command = [verify.value].flat();
  try {
    const set = await call(context, "verify.set", { session: session.id, command });
    return { ...session, verifyCommand: set.verifyCommand };
  } catch (error) {
    note(context, `Session ${session.name} is running, but without its verify command.`);
    throw error;
  }
}
