import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationInput } from "../../../shared/protocol/index.ts";
import { collectOutput } from "../../client/index.ts";
import { detachKeysFor, startSession } from "../config/use-config.ts";
import { type CommandContext, call, type Invocation, note } from "../context.ts";
import { withoutUndefined } from "../session-options.ts";
import { streamCommand } from "../stream-command.ts";
import { attachTerminal, describeEnd } from "../terminal/attach-terminal.ts";
import { parseDetachKeys } from "../terminal/detach-keys.ts";
import { hasTerminal } from "../terminal/has-terminal.ts";
import { requireNoInput } from "../unread-input.ts";

/** The session that the command runs in. */
interface Begun {
  id: string;
  name: string;
}

interface RunOptions {
  detachKeys?: string;
  from?: string;
  rm?: boolean;
}

/** Starts a session, or a fork, and runs a command in its terminal. */
export async function run({
  context,
  rest,
  options,
  input,
}: Invocation<RunOptions, "new">): Promise<number> {
  // Wrong keys must be refused before there is a session.
  const detachKeys = await detachKeysFor(context, options.detachKeys);
  parseDetachKeys(detachKeys);
  if (!hasTerminal()) await requireNoInput();
  const session = await begin(context, options.from, input);
  let isLeft = false;
  try {
    if (context.isJson) return await runForProgram(context, session, rest);
    const { reason, exitCode } = await runForPerson(context, session, rest, {
      ...options,
      detachKeys,
    });
    isLeft = reason === "detached";
    return exitCode ?? 0;
  } finally {
    if (options.rm === true && !isLeft) await remove(context, session);
  }
}

/** What --from leaves to be chosen: a fork is as its checkpoint. */
const CHOSEN_OF_FORK: ReadonlySet<string> = new Set(["name", "pids"]);

async function begin(
  context: CommandContext,
  checkpoint: string | undefined,
  input: OperationInput<"new">,
): Promise<Begun> {
  if (checkpoint === undefined) return await startSession(context, input);
  const refused = Object.keys(input).filter((field) => !CHOSEN_OF_FORK.has(field));
  if (refused.length > 0) {
    throw new WaypointError(
      "USAGE_INVALID",
      "A fork is as its checkpoint, and can be given no more.",
      {
        hint: "With --from only --name and --pids go.",
        detail: { fields: refused },
      },
    );
  }
  const { name, pids } = input;
  const wanted = withoutUndefined({ name, pids });
  const { sessions } = await call(context, "fork", { checkpoint, ...wanted });
  return sessions[0] as Begun;
}

/** Its checkpoints go with it: nobody else has had the time to stand on one. */
async function remove(context: CommandContext, { id, name }: Begun): Promise<void> {
  await call(context, "rm", { session: id, force: true });
  note(context, `Session ${name} was removed.`);
}

async function runForPerson(
  context: CommandContext,
  { id, name }: Begun,
  command: readonly string[],
  { detachKeys, rm }: RunOptions & { detachKeys: string },
): Promise<{ reason: string; exitCode: number | null }> {
  note(context, `Session ${name} is running (${id})`);
  if (!hasTerminal()) {
    const input = { session: id, command: [...command] };
    return { reason: "ended", exitCode: await streamCommand(context, { input }) };
  }
  const { reason, exitCode } = await attachTerminal(context, {
    session: name,
    detachKeys,
    command,
  });
  const isDone = reason === "ended";
  const end = `The command has ended; session ${name} lives on.`;
  if (!(isDone && rm === true)) note(context, isDone ? end : describeEnd(name, reason));
  return { reason, exitCode };
}

async function runForProgram(
  context: CommandContext,
  session: Begun,
  command: readonly string[],
): Promise<number> {
  const input = { session: session.id, command: [...command] };
  return await streamCommand(context, {
    input,
    consume: async (stream) => {
      const result = await collectOutput(stream);
      await context.output.json({ id: session.id, name: session.name, ...result });
      return result;
    },
  });
}
