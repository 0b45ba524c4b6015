import { WaypointError } from "../../../shared/errors/index.ts";
import { compensateEffects } from "../../client/index.ts";
import { askHere } from "../approving/ask-here.ts";
import { findBaseChanges, renderBaseChanges, withBaseChanges } from "../base-changes.ts";
import { confirm, hasAsker } from "../confirm.ts";
import { confirmTyping } from "../confirm-typing.ts";
import {
  type CommandContext,
  call,
  type Invocation,
  note,
  printLong,
  printResult,
} from "../context.ts";
import { refusedExitCode } from "../going-back/refused-exit-code.ts";
import { renderPlan } from "../going-back/render-plan.ts";
import { endedBySignals } from "../leaving.ts";
import { lossSentence, renderMove } from "../render-move.ts";
import { withoutUndefined } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

/** Lines of each list that a question has before it. */
const ASKED_LINES_MAX = 15;

interface RestoreOptions {
  lastGood?: boolean;
  baseChanges?: boolean;
  compensate?: boolean;
  yes?: boolean;
  dryRun?: boolean;
  expand?: boolean;
}

/** Puts a session back to a checkpoint, or tells what that would undo. */
export async function run({
  context,
  options,
  input: typed,
}: Invocation<RestoreOptions, "restore">): Promise<number | undefined> {
  const input = { ...typed, checkpoint: wantedCheckpoint(typed, options) };
  const { session, checkpoint, only, paths, except } = input;
  const { paint } = context.output;
  const { expand = false } = options;
  const asked = { session, checkpoint, ...withoutUndefined({ only, paths, except }) };
  if (options.dryRun === true) {
    const plan = await call(context, "restore.plan", { ...asked, expand });
    const changed = await findBaseChanges(context, plan.checkpoint, options.baseChanges === true);
    await printLong(context, withBaseChanges(plan, changed), (shown) => [
      ...renderPlan(shown, { paint, linesMax: Number.POSITIVE_INFINITY }),
      ...renderBaseChanges(changed, context.nowMs),
    ]);
    return refusedExitCode(plan);
  }
  const isAnswered = options.yes === true;
  let isTypingTold = input.whileTyping === true;
  const isAsked = !isAnswered && hasAsker(context);
  if (isAsked) {
    const plan = await call(context, "restore.plan", { ...asked, expand });
    const changed = await findBaseChanges(context, plan.checkpoint, options.baseChanges === true);
    const base = renderBaseChanges(changed, context.nowMs);
    await context.output.lines([
      ...renderPlan(plan, { paint, linesMax: ASKED_LINES_MAX }),
      ...base,
    ]);
    // Who says yes to a plan that names somebody at work is not asked about them again.
    isTypingTold ||= plan.typing !== null;
  }
  await confirm(context, {
    question: `Put session ${session} back to ${checkpoint}? ${lossSentence(input)}`,
    isAnswered,
  });
  const taken = options.compensate === true ? await compensate(context, input) : [];
  const moved = await confirmTyping(context, { isAnswered: isTypingTold }, (typing) =>
    call(context, "restore", { ...input, ...typing }),
  );
  // Where a question was asked it had them.
  const isWanted = options.baseChanges === true && !isAsked;
  const changed = isWanted ? await findBaseChanges(context, moved.checkpoint, true) : null;
  const told = options.compensate === true ? { compensated: taken } : {};
  await printResult(context, { ...withBaseChanges(moved, changed), ...told }, () => [
    ...taken.map((key) => `Taken back: ${shownCommand(key)}`),
    ...renderMove({ moved, sessionRef: session, verb: "is back at", loss: input }),
    ...renderAccount(input.account, moved.account),
    ...renderBaseChanges(changed, context.nowMs),
  ]);
  return undefined;
}

function renderAccount(key: string | undefined, account: string | null): string[] {
  if (key === undefined) return [];
  if (account === null) return [`No branch was left with a note on it: ${printable(key)} stays.`];
  return [
    `Appended to ${printable(key)}:`,
    ...account.split("\n").map((line) => `  ${shownCommand(line)}`),
  ];
}

/** Takes back what was done outside, before anything is restored. @throws EFFECT_NOT_COMPENSATED */
async function compensate(
  context: CommandContext,
  { session, checkpoint }: { session: string; checkpoint: string },
): Promise<string[]> {
  return await endedBySignals(
    "restore",
    () => {},
    async ({ cancel }) => {
      const onNotice = (notice: string) => note(context, notice);
      const control = { signal: cancel, onNotice, onApproval: askHere(context) };
      const done = await compensateEffects(context.stateDir, session, checkpoint, control);
      for (const { key } of done.staying) {
        note(context, `Nothing takes ${shownCommand(key)} back: it stays done.`);
      }
      return done.compensated.map(({ key }) => key);
    },
  );
}

/** @throws USAGE_INVALID  neither is said, or both. */
function wantedCheckpoint(
  { session, checkpoint }: { session: string; checkpoint?: string },
  { lastGood = false }: RestoreOptions,
): string {
  if (lastGood && checkpoint === undefined) return `${session}@good`;
  if (!lastGood && checkpoint !== undefined) return checkpoint;
  throw new WaypointError("USAGE_INVALID", "One checkpoint is wanted to restore.", {
    hint: `Name it, or give --last-good in its place: \`waypoint restore ${session} --last-good\`.`,
  });
}
