import { changeState } from "../engine/agent-state/index.ts";
import {
  createCheckpoint,
  describeCheckpoint,
  headIfUnchanged,
  makeDurable,
} from "../engine/checkpoint/index.ts";
import type { Engine, StreamClient } from "../engine/ports/index.ts";
import { requireLive, requireValidName, requireVerifyCommand } from "../engine/session/index.ts";
import { verifyInBackground, verifyMany } from "../engine/verify/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import type {
  Checkpoint,
  OperationOutput,
  OperationParsedInput,
} from "../shared/protocol/index.ts";
import { sendLine } from "./send-line.ts";
import { withSession } from "./with-session.ts";

type Input = OperationParsedInput<"checkpoint">;

/**
 * Takes a checkpoint and, where that was asked for, runs a command against it.
 *
 * The session is free again before the command begins: only the caller waits for it. The checkpoint
 * is sent as soon as it is there, as one line of JSON.
 */
export async function takeCheckpoint(
  input: Input,
  engine: Engine,
  client: StreamClient,
): Promise<OperationOutput<"checkpoint">> {
  const { row, taken, command } = await withSession(
    input.session,
    engine,
    client,
    async (session) => ({
      command: input.verify === true ? requireVerifyCommand(session) : input.verify,
      ...(await capture(withState(session, input, engine), input, engine)),
    }),
  );
  const told = () => ({ ...describe(row, engine), taken });
  if (command === undefined) return told();
  const request = {
    command,
    timeoutMs: input.verifyTimeoutMs,
    by: "checkpoint" as const,
  };
  if (!input.verifyWait) {
    verifyInBackground(row, request, engine);
    return told();
  }
  const onResult = () => Promise.resolve();
  await sendLine(client, told());
  const options = { concurrency: 1, onResult };
  const [verified] = await verifyMany(
    [row],
    () => ({ ...request, signal: client.cancelled }),
    options,
    engine,
  );
  const { outputBytes: _, ...verification } = verified?.verification ?? {};
  return {
    ...told(),
    verification: "command" in verification ? verification : null,
    verifyError: verified?.error ?? null,
  };
}

/** What is handed over is kept before the capture, which has it then. */
function withState(session: SessionRow, { state, name }: Input, engine: Engine): SessionRow {
  if (state === undefined) return session;
  if (name !== undefined) requireFreeCheckpointName(name, engine);
  const set = Object.fromEntries(Object.entries(state).map(([key, value]) => [key, { value }]));
  changeState(session, { set, append: {}, remove: [] }, engine);
  return resolveSession(session.id, engine.catalog);
}

/** Returns the checkpoint, and whether it was taken now. */
async function capture(
  session: SessionRow,
  input: Input,
  engine: Engine,
): Promise<{ row: CheckpointRow; taken: boolean }> {
  const { filesOnly, name = null, intent = null, agentSaid } = input;
  if (name !== null) requireFreeCheckpointName(name, engine);
  if (!filesOnly) requireLive(session, engine);
  if (input.verify !== undefined) requireForkable(session, filesOnly);
  const last = input.ifChanged ? await headIfUnchanged(session, engine) : null;
  if (last !== null) {
    if (input.durable) await makeDurable(last.id, engine);
    return { row: last, taken: false };
  }
  const options = {
    ...({ trigger: "manual", movesHead: true, intent, name, filesOnly } as const),
    ...(agentSaid === undefined ? {} : { agentSaid }),
  };
  const row = await createCheckpoint(session, options, engine);
  if (input.durable) await makeDurable(row.id, engine);
  return { row, taken: true };
}

/** Before the capture: what could not be verified is not taken as if it would be. */
function requireForkable({ name, net }: SessionRow, filesOnly: boolean): void {
  if (net !== "host" || filesOnly) return;
  throw new WaypointError(
    "FORK_REFUSED",
    `Session ${name} uses the host's network, so a fork to verify in would fight over its ports.`,
    { hint: "Take the checkpoint without --verify, or start the session with `--net nat`." },
  );
}

function describe(row: CheckpointRow, { catalog }: Engine): Checkpoint {
  const story = catalog.stories.of(row.id);
  return describeCheckpoint(catalog.checkpoint(row.id) ?? row, { story, verification: undefined });
}

/** @throws NAME_INVALID | NAME_IN_USE */
export function requireFreeCheckpointName(name: string, { catalog }: Engine): void {
  requireValidName(name);
  if (catalog.checkpointByName(name) === undefined && catalog.checkpoint(name) === undefined)
    return;
  throw new WaypointError("NAME_IN_USE", `There is a checkpoint named ${name} already.`, {
    hint: `Choose another name; \`waypoint show ${name}\` shows it.`,
  });
}
