import { WaypointError } from "../../../shared/errors/index.ts";
import type { Forward } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { withoutUndefined } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "SESSION" },
  { title: "PORT", align: "right" },
  { title: "ADDRESS" },
  { title: "IN" },
  { title: "STATE" },
];

/** Forwards a port of a session, lists what is forwarded, or stops it. */
export async function run({
  context,
  args,
  options,
}: Invocation<{ stop?: boolean; to?: string }>): Promise<undefined> {
  const [session, text] = args;
  if (session === undefined || text === undefined) {
    if (options.stop === true || options.to !== undefined) throw portMissing();
    const result = await call(context, "forward.list", withoutUndefined({ session }));
    await printResult(context, result, ({ forwards }) => renderForwards(forwards));
    return;
  }
  const { port, hostPort } = parsePorts(text);
  const to = withoutUndefined({ to: options.to });
  if (options.stop === true) {
    const stopped = await call(context, "forward.stop", { session, port, ...to });
    await printResult(context, stopped, (forward) => [
      `Port ${forward.port} of ${printable(forward.sessionName)} is not forwarded${target(forward)} any more.`,
    ]);
    return;
  }
  const input = { session, port, ...withoutUndefined({ hostPort }), ...to };
  const forward = await call(context, "forward", input);
  await printResult(context, forward, (made) => [
    `Port ${made.port} of ${printable(made.sessionName)} is 127.0.0.1:${made.hostPort} ${made.toName === null ? "here" : `in ${printable(made.toName)}`}.`,
    ...(made.answered ? [] : [`Nothing listens on port ${made.port} in the session yet.`]),
  ]);
}

/** Reads "3000" or "3000:8080": the session's port, and the one on this machine. */
function parsePorts(text: string): { port: number; hostPort: number | undefined } {
  const [, port, hostPort] = /^([1-9]\d{0,4})(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  if (port !== undefined) {
    return { port: Number(port), hostPort: hostPort === undefined ? undefined : Number(hostPort) };
  }
  throw new WaypointError("USAGE_INVALID", `${JSON.stringify(text)} is not a port.`, {
    hint: "Give the session's port, as 3000, or both, as 3000:8080.",
  });
}

function target({ toName }: Forward): string {
  return toName === null ? "" : ` to ${printable(toName)}`;
}

function portMissing(): WaypointError {
  return new WaypointError("USAGE_INVALID", "Which port is meant is not said.", {
    hint: "Give the session and its port: `waypoint forward web 3000`.",
  });
}

function renderForwards(forwards: readonly Forward[]): string[] {
  if (forwards.length === 0) return ["No ports are forwarded."];
  const rows = forwards.map((forward) => [
    printable(forward.sessionName),
    String(forward.port),
    `127.0.0.1:${forward.hostPort}`,
    forward.toName === null ? "this machine" : printable(forward.toName),
    renderState(forward),
  ]);
  return layoutTable(COLUMNS, rows);
}

function renderState({ listening, answered, toName }: Forward): string {
  if (!listening) return toName === null ? "taken by another program" : "not listening";
  return answered ? "listening" : "nothing listens in the session";
}
