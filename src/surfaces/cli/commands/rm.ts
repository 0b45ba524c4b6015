import { hasCode } from "../../../shared/errors/index.ts";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { confirm } from "../confirm.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";
import { parseReference } from "../parse-values.ts";
import { printable } from "../text/printable.ts";
import { tryEach } from "../try-each.ts";

interface RmOptions {
  force?: boolean;
  yes?: boolean;
  files?: boolean;
}

/** Removes sessions, the files of sessions, or checkpoints. */
export async function run({ context, rest, options }: Invocation<RmOptions>): Promise<undefined> {
  const names = rest.map(parseReference);
  if (options.files === true) {
    await tryEach(names, (name) => removeFiles(name, options, context));
    return;
  }
  const { sessions } = await call(context, "ls", {});
  const isSession = (name: string) =>
    sessions.some((session) => session.name === name || session.id.startsWith(name));
  const checkpoints = names.filter((name) => !isSession(name));
  const steps = new Map([
    // All at once, and first: web@~4 is another one when web@~3 is gone.
    ...(checkpoints.length === 0
      ? []
      : [[checkpoints.join(" "), () => removeOthers(checkpoints, options, context)] as const]),
    ...names
      .filter(isSession)
      .map((name) => [name, () => removeSession(name, options, context)] as const),
  ]);
  await tryEach([...steps.keys()], async (name) => steps.get(name)?.());
}

/** Removes what no session is called; a single name that is nothing may have been meant as one. */
async function removeOthers(
  names: readonly string[],
  options: RmOptions,
  context: CommandContext,
): Promise<undefined> {
  const [name = "", ...others] = names;
  try {
    await removeCheckpoints(names, options, context);
  } catch (error) {
    if (others.length > 0 || !hasCode(error, "CHECKPOINT_NOT_FOUND")) throw error;
    await removeSession(name, options, context);
  }
}

async function removeSession(
  session: string,
  { force = false, yes = false }: RmOptions,
  context: CommandContext,
): Promise<undefined> {
  const question = `Remove session ${session} with its files and checkpoints? There is no way back.`;
  await confirm(context, { question, isAnswered: yes });
  const result = await call(context, "rm", { session, force });
  await printResult(context, result, ({ name, checkpointsRemoved, checkpointsKept }) => [
    checkpointsRemoved === 0
      ? `Removed session ${printable(name)}.`
      : `Removed session ${printable(name)} and ${countCheckpoints(checkpointsRemoved)}.`,
    ...(checkpointsKept === 0
      ? []
      : [`Kept ${countCheckpoints(checkpointsKept)} that forks descend from.`]),
  ]);
}

async function removeFiles(
  session: string,
  { yes = false }: RmOptions,
  context: CommandContext,
): Promise<undefined> {
  const question = `Remove what session ${session} has in its files now? Its checkpoints stay.`;
  await confirm(context, { question, isAnswered: yes });
  const result = await call(context, "rm.files", { session });
  await printResult(context, result, ({ name, head }) => [
    `Removed the files of session ${printable(name)}.`,
    ...(head === null ? [] : [`\`waypoint start ${printable(name)}\` starts it again.`]),
  ]);
}

async function removeCheckpoints(
  checkpoints: readonly string[],
  { force = false, yes = false }: RmOptions,
  context: CommandContext,
): Promise<undefined> {
  const what =
    checkpoints.length === 1
      ? `checkpoint ${checkpoints[0]}`
      : countCheckpoints(checkpoints.length);
  await confirm(context, { question: `Remove ${what}? There is no way back.`, isAnswered: yes });
  const result = await call(context, "rm.checkpoints", { checkpoints: [...checkpoints], force });
  await printResult(context, result, ({ removed }) => removed.map(renderRemoved));
}

function renderRemoved({
  id,
  name,
  sessionName,
}: OperationOutput<"rm.checkpoints">["removed"][number]): string {
  const title = name === null ? id : `${id} (${printable(name)})`;
  return `Removed checkpoint ${title} of session ${printable(sessionName)}.`;
}

function countCheckpoints(count: number): string {
  return count === 1 ? "1 checkpoint" : `${count} checkpoints`;
}
