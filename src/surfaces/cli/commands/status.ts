import { existsSync } from "node:fs";
import os from "node:os";
import type { OperationOutput, Session } from "../../../shared/protocol/index.ts";
import { findSession } from "../../client/index.ts";
import { findBaseChanges, renderBaseChanges } from "../base-changes.ts";
import { type CommandContext, call, type Invocation, printResult } from "../context.ts";
import { renderContacts } from "../render-contacts.ts";
import { tellAutomatic } from "../tell-automatic.ts";
import { truncate } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import { formatAge } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import { plain } from "../text/style.ts";
import { layoutFields } from "../text/table.ts";
import { wholeTitle } from "../timeline/title.ts";
import { renderSessions, renderState } from "./ls.ts";

/** Is there in every session and nowhere else: the program that is its first process. */
const INSIDE_SESSION = "/run/waypoint/init";

/** Where a session stands, and what has come since. */
interface Whereabouts {
  session: Session;
  checkpoint: OperationOutput<"show"> | null;
  changes: OperationOutput<"diff"> | null;
  /** Whom it talked to since; since it began, where there is no checkpoint. */
  contacts: OperationOutput<"contacts">;
}

/** Says where one is: inside a session; else how a session stands, or which ones there are. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  const [name] = args;
  if (name === undefined && existsSync(INSIDE_SESSION)) return await tellInside(context);
  const { sessions } = await call(context, "ls", {});
  const wanted = name === undefined ? onlyOf(sessions) : findSession(sessions, name);
  if (wanted === undefined) return await tellAll(context, sessions);
  const whereabouts = await readWhereabouts(context, wanted);
  const { head } = wanted;
  const changed = head === null ? null : await findBaseChanges(context, head, false);
  await printResult(context, { inside: null, ...whereabouts }, (shown) => [
    ...renderWhereabouts(shown, context),
    ...renderBaseChanges(changed, context.nowMs, `\`waypoint show ${head} --base-changes\``),
  ]);
}

async function tellInside(context: CommandContext): Promise<undefined> {
  await printResult(context, { inside: os.hostname() }, ({ inside }) => [
    `You are inside session ${printable(inside)}: what you change here, the machine does not see.`,
    "To see its checkpoints, leave it (Ctrl-] d, where you are attached) and ask again.",
  ]);
}

async function tellAll(context: CommandContext, sessions: readonly Session[]): Promise<undefined> {
  const { nowMs, output } = context;
  await printResult(context, { inside: null, sessions }, (shown) => [
    "You are in no session.",
    ...renderSessions(shown.sessions, { nowMs, paint: output.paint }),
    ...(shown.sessions.length === 0 ? [] : ["`waypoint status NAME` tells more of one."]),
  ]);
}

function onlyOf(sessions: readonly Session[]): Session | undefined {
  return sessions.length === 1 ? sessions[0] : undefined;
}

async function readWhereabouts(context: CommandContext, session: Session): Promise<Whereabouts> {
  if (session.head === null) {
    const contacts = await call(context, "contacts", { session: session.id });
    return { session, checkpoint: null, changes: null, contacts };
  }
  const checkpoint = await call(context, "show", { checkpoint: session.head });
  const to = session.id;
  const changes = await call(context, "diff", { from: session.head, to, patch: false });
  const contacts = await call(context, "contacts", { session: session.id, since: session.head });
  return { session, checkpoint, changes, contacts };
}

function renderWhereabouts(
  { session, checkpoint, changes, contacts }: Whereabouts,
  { nowMs, output: { columns, paint } }: CommandContext,
): string[] {
  const { count } = session.attached;
  return [
    ...fittedFields(columns, [
      ["Session", `${paint("bold", printable(session.name))} (${session.id})`],
      ["State", renderState(session, paint)],
      ["Attached", count === 1 ? "1 terminal" : count === 0 ? "nobody" : `${count} terminals`],
      ...(checkpoint === null
        ? [["Checkpoint", `none yet: \`waypoint checkpoint ${printable(session.name)}\``] as const]
        : [
            ["Checkpoint", renderCheckpoint(checkpoint, nowMs)] as const,
            ["Since then", renderChanges(changes)] as const,
          ]),
      ...(session.allow === null
        ? []
        : [["Reaches", session.allow.map(printable).join(", ")] as const]),
      ...(contacts.contacts.length === 0
        ? []
        : [["Talked to", renderContacts(contacts).join(", ")] as const]),
    ]),
    ...tellAutomatic([session]),
  ];
}

/** One line each: an intent may be of any length, and `waypoint show` has all of it. */
function fittedFields(columns: number, fields: Parameters<typeof layoutFields>[0]): string[] {
  return layoutFields(fields).map((line) => truncate(line, columns));
}

function renderCheckpoint(checkpoint: OperationOutput<"show">, nowMs: number): string {
  const title = wholeTitle(checkpoint, plain);
  const taken = `${checkpoint.id}, ${formatAge(checkpoint.createdAt, nowMs)} ago`;
  return title === "" ? taken : `${taken}: ${title}`;
}

/** What could not be read may have changed, too. */
function renderChanges(changes: OperationOutput<"diff"> | null): string {
  if (changes === null) return "-";
  const unknown = Object.keys(changes.unknown).length === 0 ? "" : " (not all could be read)";
  return `${changes.summary === "" ? "nothing changed" : shownCommand(changes.summary)}${unknown}`;
}
