import { createHash } from "node:crypto";
import { type Approval, findHeldStep, policyOf } from "../../portable/approvals/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { createCheckpoint } from "../checkpoint/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { quoteCommand, requireLive, sessionShell } from "../session/index.ts";
import { awaitAnswer, begin } from "./await-answer.ts";

/** Characters of a command that are kept, to be told. */
const COMMAND_CHARACTERS_MAX = 4096;

/** Something that is to be run in a session. */
export interface Step {
  session: SessionRow;
  command: readonly string[];
  /** How it is asked for: in which shell, as whom, where. */
  how: object;
  /** How long a person has; that of the policy if not given. */
  timeoutMs: number | undefined;
  /** The step that the client has waited for already, before a daemon was lost. */
  approval: string | undefined;
  /** What the client sends is the step's input, and kept for it. */
  readsInput: boolean;
}

/** What is waited for, and the rule that holds it. */
interface Held {
  line: string;
  rule: string;
  timeoutMs: number;
}

/**
 * Runs a step; one that the session's policy holds after a checkpoint and a person's approval.
 *
 * Nobody's turn is held up meanwhile. The approval is noted as used before the step begins, so that it
 * runs at most once, whatever dies. One that is left waiting is taken up by the same command.
 *
 * **On failure** nothing ran.
 *
 * @throws APPROVAL_DENIED | APPROVAL_EXPIRED | CANCELLED | CRIU_DUMP_FAILED, and what `run` throws
 * @throws APPROVAL_NOT_FOUND | APPROVAL_SETTLED  the one to be taken up is none, or was begun before.
 */
export async function withApproval<T extends { exitCode: number | null }>(
  step: Step,
  client: StreamClient,
  engine: Engine,
  run: () => Promise<T>,
): Promise<T> {
  const held = findHeld(step, engine);
  if (held === null && step.approval === undefined) return await run();
  if (held === null) throw notTakenUp(step.approval ?? "");
  const approval = takeUp(step, held, engine) ?? (await ask(step, held, client, engine));
  await awaitAnswer(approval, leaveSignal(step, approval, client), client, engine);
  begin(approval, client, engine);
  const result = await run();
  engine.approvals.end(approval.id, result.exitCode);
  return result;
}

function findHeld({ session, command, timeoutMs }: Step, engine: Engine): Held | null {
  const policy = policyOf(session.approval ?? "off");
  if (policy === null) return null;
  const line = quoteCommand(command, sessionShell(session, engine).dialect);
  const held = findHeldStep(line, policy);
  return held && { line, rule: held.rule, timeoutMs: timeoutMs ?? policy.timeoutMs };
}

/** What a client that is gone, or a daemon that died, has left: it is asked for once. */
function takeUp(
  { session, how, approval: wanted }: Step,
  { line }: Held,
  engine: Engine,
): Approval | null {
  const { approvals, approvalWaits } = engine;
  approvals.expire(new Date().toISOString());
  const asked = { ...askedIn(session), fingerprint: fingerprintOf(line, how) };
  const isFree = ({ id }: Approval) => !approvalWaits.has(id);
  if (wanted === undefined) return approvals.findOpen(asked).find(isFree) ?? null;
  const found = approvals.get(wanted);
  const isSame = found?.session === asked.session && found.fingerprint === asked.fingerprint;
  if (found === undefined || !isSame || !isFree(found)) throw notTakenUp(wanted);
  return found;
}

function notTakenUp(id: string): WaypointError {
  return new WaypointError("APPROVAL_NOT_FOUND", `Step ${id} cannot be waited for any more.`, {
    hint: "Nothing ran. Give the command again; `waypoint approvals` says what became of the step.",
    detail: { approval: id },
  });
}

async function ask(
  { session, how }: Step,
  { line, rule, timeoutMs }: Held,
  client: StreamClient,
  engine: Engine,
): Promise<Approval> {
  const capture = () => {
    const row = engine.catalog.session(session.id) ?? session;
    requireLive(row, engine);
    const options = { trigger: "manual", intent: `before ${rule}`, name: null } as const;
    return createCheckpoint(row, { ...options, filesOnly: false, movesHead: true }, engine);
  };
  const checkpoint = await engine.leases.run(session.id, capture, client.cancelled);
  const row = engine.catalog.session(session.id) ?? session;
  const now = Date.now();
  const approval: Approval = {
    id: engine.newId(),
    ...askedIn(row),
    sessionName: row.name,
    fingerprint: fingerprintOf(line, how),
    command: engine.redact(line).slice(0, COMMAND_CHARACTERS_MAX),
    rule,
    checkpoint: checkpoint.id,
    askedAt: new Date(now).toISOString(),
    askedBy: client.caller,
    expiresAt: new Date(now + timeoutMs).toISOString(),
    ...{ state: "waiting", settledAt: null, answeredBy: null, why: null, exitCode: null },
  };
  engine.approvals.insert(approval);
  return approval;
}

/** Ctrl-C leaves what only waits; with input it comes behind that, and the client's going away leaves. */
function leaveSignal({ readsInput }: Step, { id }: Approval, client: StreamClient): AbortSignal {
  if (readsInput) return client.cancelled;
  const left = new AbortController();
  const message = `The step was left before it began; it waits for approval as ${id}.`;
  client.listen({
    onControl: ({ control }) => {
      if (control === "resize") return;
      left.abort(new WaypointError("CANCELLED", message));
    },
    onInput: async () => {},
  });
  return AbortSignal.any([left.signal, client.cancelled]);
}

function askedIn({ id, instance }: SessionRow) {
  return { session: id, instance: instance ?? "" };
}

function fingerprintOf(line: string, how: object): string {
  return createHash("sha256")
    .update(JSON.stringify([line, how]))
    .digest("hex");
}
