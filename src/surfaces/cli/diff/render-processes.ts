import type {
  Changes,
  Connection,
  ListeningPort,
  StoryProcess,
} from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { formatSize } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { type Mark, renderMark } from "./render-mark.ts";

/** Longest command line that is shown. */
const COMMAND_CHARS_MAX = 200;

/** Returns one line per process that began or ended, then ports, then connections. */
export function renderProcesses(
  { processes, ports, connections }: Changes,
  { paint, isBrief }: { paint: Paint; isBrief: boolean },
): string[] {
  const line = (mark: Mark, text: string, facts: readonly string[]) => {
    const told = isBrief ? "" : facts.join(", ");
    return `${renderMark(mark, paint)} ${text}${told === "" ? "" : paint("dim", `  ${told}`)}`;
  };
  const process = (mark: Mark) => (each: StoryProcess) =>
    line(mark, `process ${each.pid} ${shorten(each.command)}`, processFacts(each));
  const port = (mark: Mark) => (each: ListeningPort) =>
    line(mark, `port ${formatPort(each)}`, ownerFacts(each));
  const connection = (mark: Mark) => (each: Connection) =>
    line(
      mark,
      `connection ${each.protocol} ${printable(each.local)} → ${printable(each.remote)}`,
      ownerFacts(each),
    );
  return [
    ...(processes?.started ?? []).map(process("added")),
    ...(processes?.ended ?? []).map(process("deleted")),
    ...(ports?.opened ?? []).map(port("added")),
    ...(ports?.closed ?? []).map(port("deleted")),
    ...(connections?.opened ?? []).map(connection("added")),
    ...(connections?.closed ?? []).map(connection("deleted")),
  ];
}

function processFacts({ user, cwd, memoryBytes }: StoryProcess): string[] {
  return [
    ...(user === null ? [] : [printable(user)]),
    ...(cwd === null ? [] : [printable(cwd)]),
    ...(memoryBytes === null ? [] : [formatSize(memoryBytes)]),
  ];
}

function ownerFacts({ pid, command }: { pid: number | null; command: string | null }): string[] {
  if (pid === null) return [];
  return [`${pid}${command === null ? "" : ` ${shorten(command)}`}`];
}

function formatPort({ protocol, address, port }: ListeningPort): string {
  const shown = printable(address);
  if (port === null) return `${protocol} ${shown}`;
  return `${protocol} ${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

function shorten(command: string): string {
  const shown = shownCommand(command);
  return shown.length <= COMMAND_CHARS_MAX ? shown : `${shown.slice(0, COMMAND_CHARS_MAX)}…`;
}
