import { availableParallelism } from "node:os";
import { TailOutput } from "../base/index.ts";
import type { Engine, StreamClient } from "../engine/ports/index.ts";
import {
  chooseVerifyCommand,
  requireVerifyCommand,
  tellVerifyCommand,
} from "../engine/session/index.ts";
import { forgetVerifications, verifyMany } from "../engine/verify/index.ts";
import { historyOf, resolveCheckpoint, resolveSession } from "../portable/lineage/index.ts";
import type { CheckpointRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import {
  couldNotRun,
  type OperationOutput,
  type OperationParsedInput,
  type Verified,
} from "../shared/protocol/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { sendLine } from "./send-line.ts";
import { withSession } from "./with-session.ts";

type Input = OperationParsedInput<"verify">;

/** What one answer holds of all outputs together; each line before it has its own whole. */
const ANSWER_OUTPUT_BYTES_MAX = 2 * 1024 * 1024;

/** The handlers of verifying. */
export const VERIFY_HANDLERS: HandlersOf<"verify" | "verify.set" | "verify.forget"> = {
  verify,

  "verify.set": (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      const { command: words, automatic } = input;
      chooseVerifyCommand(session, { words, automatic }, engine);
      engine.verifier.abandon(session.id);
      const { id, name, verifyCommand } = resolveSession(session.id, engine.catalog);
      return { session: id, name, verifyCommand, automatic };
    }),

  "verify.forget": async ({ checkpoints, command }, engine) => {
    const rows = checkpoints.map((reference) => resolveCheckpoint(reference, engine.catalog));
    let forgotten = 0;
    for (const row of rows) {
      const told = command === undefined ? undefined : tellVerifyCommand(row, command, engine);
      forgotten += await forgetVerifications(row.id, told, engine);
    }
    return { forgotten };
  },
};

/** Runs a command against checkpoints; each result is sent as it comes, as one line of JSON. */
async function verify(
  input: Input,
  engine: Engine,
  client: StreamClient,
): Promise<OperationOutput<"verify">> {
  const checkpoints = wantedCheckpoints(input, engine);
  const { timeoutMs } = input;
  const results = await verifyMany(
    checkpoints,
    (checkpoint) => ({
      command: input.command ?? ownCommand(checkpoint, engine),
      ...({ timeoutMs, signal: client.cancelled, by: "verify" } as const),
    }),
    {
      // While one fork begins or ends, which is mostly waiting, the others work.
      concurrency: input.concurrency ?? availableParallelism() + 1,
      onResult: (verified) => sendLine(client, verified),
    },
    engine,
  );
  const passed = results.filter((result) => result.passed).length;
  const notVerified = results.filter(isNotVerified).length;
  return {
    results: withinAnswer(results),
    passed,
    failed: results.length - passed - notVerified,
    notVerified,
  };
}

/** Nothing is said of a checkpoint in which the command could not be run. */
function isNotVerified({ verification, error }: Verified): boolean {
  return error !== null || (verification !== null && couldNotRun(verification));
}

/** @throws USAGE_INVALID  its session has none, or is not there any more. */
function ownCommand({ session, sessionName }: CheckpointRow, { catalog }: Engine) {
  const name = sessionName;
  return requireVerifyCommand(catalog.session(session) ?? { name, verifyWords: null });
}

function wantedCheckpoints({ checkpoints, session }: Input, engine: Engine): CheckpointRow[] {
  const named = checkpoints.map((reference) => resolveCheckpoint(reference, engine.catalog));
  const ofSession =
    session === undefined ? [] : historyOf(resolveSession(session, engine.catalog), engine.catalog);
  const wanted = [...new Map([...named, ...ofSession].map((row) => [row.id, row])).values()];
  if (wanted.length > 0) return wanted;
  if (session === undefined) {
    throw new WaypointError("USAGE_INVALID", "There is no checkpoint to verify.", {
      hint: "Name some, or give --session for all of a session's timeline.",
    });
  }
  throw new WaypointError("CHECKPOINT_NOT_FOUND", `Session ${session} has no checkpoint yet.`, {
    hint: "`waypoint checkpoint` takes one.",
  });
}

/** Keeps less of each output where all of them together would not fit into one message. */
function withinAnswer(results: readonly Verified[]): Verified[] {
  const bytesMax = Math.floor(ANSWER_OUTPUT_BYTES_MAX / Math.max(1, results.length));
  return results.map((result) => {
    const { verification } = result;
    if (verification === null) return result;
    const end = new TailOutput(bytesMax);
    end.add(Buffer.from(verification.output));
    return { ...result, verification: { ...verification, output: end.text() } };
  });
}
