import { WaypointError } from "../../shared/errors/index.ts";
import type { Effect } from "../../shared/protocol/index.ts";
import type { OnApproval } from "./ask-program.ts";
import { callOperation } from "./call-operation.ts";
import { cancelled } from "./cancelled.ts";
import { type CallControl, splitControl } from "./options.ts";
import { ownProcess } from "./own-process.ts";
import { runCommand } from "./run-command.ts";

/** The end of what a command printed that is told. */
const OUTPUT_CHARS_MAX = 500;

type Compensate = (outcome: unknown) => Promise<unknown>;

/** Functions of this program that take effects back: nobody else has them. */
const functions = new Map<string, Compensate>();

/** Notes how this program takes an effect back. */
export function noteCompensation(session: string, key: string, compensate: Compensate): void {
  functions.set(`${session} ${key}`, compensate);
}

/** How to go on where what takes an effect back is itself a step that a person has to approve. */
export type CompensateControl = CallControl & { onApproval?: OnApproval | undefined };

/** What was taken back, and what stays done since nothing takes it back. */
export interface Compensated {
  compensated: Effect[];
  staying: Effect[];
}

/**
 * Takes back what was done outside since a checkpoint, the newest first; each is written down before and
 * after. What nothing takes back stays.
 *
 * @throws EFFECT_NOT_COMPENSATED  one could not be taken back, or nobody knows what became of it: it
 * stops there, and older ones are done still.
 */
export async function compensateEffects(
  stateDir: string,
  session: string,
  since: string,
  options: CompensateControl = {},
): Promise<Compensated> {
  const { control } = splitControl(options);
  const { effects } = await callOperation(stateDir, "effect.list", { session, since }, control);
  const newestFirst = effects
    .toReversed()
    .filter(({ state }) => ["done", "unknown", "running"].includes(state));
  const done: Compensated = { compensated: [], staying: [] };
  for (const [at, effect] of newestFirst.entries()) {
    if (effect.state !== "done")
      throw notCompensated(effect, "what became of it is not known", newestFirst.slice(at));
    if (effect.compensate === null && !effect.compensatedByProgram) {
      done.staying.push(effect);
      continue;
    }
    // Between two of them: what was taken back is written down.
    if (control.signal?.aborted === true) throw cancelled("restore", control.signal);
    try {
      await takeBack(stateDir, session, effect, options);
    } catch (error) {
      throw notCompensated(effect, error, newestFirst.slice(at));
    }
    done.compensated.push(effect);
  }
  return done;
}

async function takeBack(
  stateDir: string,
  session: string,
  { key, compensate, outcome }: Effect,
  options: CompensateControl,
): Promise<void> {
  const own = functions.get(`${session} ${key}`);
  if (compensate === null && own === undefined) {
    throw new Error("a function of the agent's program takes it back: restore from that program");
  }
  const owner = ownProcess();
  const about = { session, key, ...(owner === null ? {} : { owner }) };
  await callOperation(stateDir, "effect.compensate", { ...about, stage: "begin" });
  try {
    if (own !== undefined) await own(outcome);
    else await runLine(stateDir, session, compensate ?? "", options);
  } catch (error) {
    const why = messageOf(error).slice(0, 10_000);
    await callOperation(stateDir, "effect.compensate", {
      session,
      key,
      stage: "failed",
      error: why,
    });
    throw error;
  }
  await callOperation(stateDir, "effect.compensate", { session, key, stage: "done" });
}

async function runLine(
  stateDir: string,
  session: string,
  line: string,
  options: CompensateControl,
): Promise<void> {
  const { cancel: _, ...control } = splitControl(options).control;
  const { exitCode, stdout, stderr } = await runCommand(stateDir, session, line, {
    ...control,
    onApproval: options.onApproval,
    shell: "own",
  });
  if (exitCode === 0) return;
  const said = `${stdout}${stderr}`.trim().slice(-OUTPUT_CHARS_MAX);
  throw new Error(`\`${line}\` ended with ${exitCode}${said === "" ? "" : `: ${said}`}`);
}

function notCompensated(
  { key, what }: Effect,
  error: unknown,
  left: readonly Effect[],
): WaypointError {
  const message = `Effect "${key}" (${what}) was not taken back: ${messageOf(error)}.`;
  return new WaypointError("EFFECT_NOT_COMPENSATED", message, {
    hint: `Nothing was restored; still done: ${left
      .map((each) => each.key)
      .slice(0, 10)
      .join(", ")}. Settle it, or restore without compensation.`,
    detail: { key, left: left.map((each) => each.key) },
    ...(error instanceof Error ? { cause: error } : {}),
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/[.]$/, "") : String(error);
}
