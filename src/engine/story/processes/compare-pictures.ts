import type { ProcessFacts } from "../../../base/index.ts";
import type {
  Changes,
  Connection,
  ListeningPort,
  StoryProcess,
} from "../../../shared/protocol/index.ts";
import type { SessionStart } from "../../session/index.ts";
import type { PictureConnection, ProcessPicture } from "./process-picture.ts";
import { sessionShell } from "./session-shell.ts";

/** Longest command line that a story keeps. */
const COMMAND_CHARS_MAX = 2048;
const INIT_PID = 1;

/** What ran, with the names of users at that moment. */
export interface NamedPicture extends ProcessPicture {
  userNames: ReadonlyMap<number, string>;
}

type Processes = NonNullable<Changes["processes"]>;

/** Returns the processes that began, ended, and are still there; Waypoint's own is left out. */
export function compareProcesses(from: NamedPicture, to: NamedPicture): Processes {
  const before = byIdentity(from);
  const after = byIdentity(to);
  const tell = (found: Map<string, StoryProcess>, isTold: (identity: string) => boolean) =>
    [...found].filter(([identity]) => isTold(identity)).map(([, process]) => process);
  return {
    started: tell(after, (identity) => !before.has(identity)),
    ended: tell(before, (identity) => !after.has(identity)),
    still: tell(after, (identity) => before.has(identity)),
  };
}

/** Returns the ports that are open after and were not before, and the other way round. */
export function comparePorts(from: NamedPicture, to: NamedPicture): NonNullable<Changes["ports"]> {
  const [before, after] = [portsOf(from), portsOf(to)];
  return { opened: without(after, before), closed: without(before, after) };
}

/** Returns the connections to the outside that came and went. */
export function compareConnections(
  from: NamedPicture,
  to: NamedPicture,
): NonNullable<Changes["connections"]> {
  const [before, after] = [outsideOf(from), outsideOf(to)];
  return { opened: without(after, before), closed: without(before, after) };
}

/**
 * What a session is before anybody has done anything in it: its shell, which Waypoint started, and
 * what that had started before its first prompt, with the ports and connections that belong to it.
 *
 * Of these what is still there: that the others have ended would be told of what nobody knew.
 */
export function freshPicture(to: NamedPicture, start: SessionStart | null): NamedPicture {
  const shell = sessionShell(to);
  const started = new Set(start?.processes.map(identityOf));
  const tasks = to.tasks.filter((task) => task !== shell && started.has(identityOf(task)));
  const owners = new Set(tasks.map(({ pid }) => pid).filter((pid) => pid !== INIT_PID));
  const isOwned = ({ pid }: { pid: number | null }) => pid !== null && owners.has(pid);
  return {
    tasks: shell === null ? tasks : [shell, ...tasks],
    listeners: to.listeners.filter(isOwned),
    // Without those between two programs, of which one alone would look like one to the outside.
    connections: outside(to.connections).filter(isOwned),
    userNames: to.userNames,
  };
}

function byIdentity(picture: NamedPicture): Map<string, StoryProcess> {
  return new Map(
    picture.tasks
      .filter(({ pid }) => pid !== INIT_PID)
      .map((process) => [identityOf(process), describe(process, picture)]),
  );
}

function identityOf({ pid, programId }: Pick<ProcessFacts, "pid" | "programId">): string {
  return `${pid} ${programId}`;
}

function describe(process: ProcessFacts, { userNames }: NamedPicture): StoryProcess {
  const { pid, parentPid, programId, command, cwd, uid, memoryBytes } = process;
  return {
    ...{ pid, parentPid, programId, cwd, memoryBytes, command: cut(command) },
    user: userNames.get(uid) ?? String(uid),
  };
}

function cut(command: string): string {
  return command.length <= COMMAND_CHARS_MAX ? command : `${command.slice(0, COMMAND_CHARS_MAX)}…`;
}

/** By what tells one from another: also who owns it, so that a restart is seen. */
function portsOf(picture: NamedPicture): Map<string, ListeningPort> {
  const { identities, commands } = ownersOf(picture);
  return new Map(
    picture.listeners
      .filter(({ pid }) => pid !== INIT_PID)
      .map(({ protocol, address, port, pid }) => [
        JSON.stringify([protocol, address, port, identities.get(pid ?? 0)]),
        { protocol, address, port, pid, command: commands.get(pid ?? 0) ?? null },
      ]),
  );
}

function outsideOf(picture: NamedPicture): Map<string, Connection> {
  const { identities, commands } = ownersOf(picture);
  return new Map(
    outside(picture.connections).map(({ protocol, local, remote, pid }) => {
      const [here, there] = [formatEnd(local), formatEnd(remote)];
      return [
        JSON.stringify([protocol, here, there, identities.get(pid ?? 0)]),
        { protocol, local: here, remote: there, pid, command: commands.get(pid ?? 0) ?? null },
      ];
    }),
  );
}

/** Those whose other end is no socket of the session; an address alone does not tell. */
function outside(connections: readonly PictureConnection[]): PictureConnection[] {
  const key = ({ protocol, local, remote }: PictureConnection, isTurned: boolean) =>
    [protocol, ...(isTurned ? [remote, local] : [local, remote]).map(formatEnd)].join(" ");
  const ends = new Set(connections.map((each) => key(each, false)));
  return connections.filter((each) => !ends.has(key(each, true)));
}

function formatEnd({ address, port }: { address: string; port: number }): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function ownersOf({ tasks }: ProcessPicture) {
  return {
    identities: new Map(tasks.map((task) => [task.pid, identityOf(task)])),
    commands: new Map(tasks.map(({ pid, command }) => [pid, cut(command)])),
  };
}

function without<T>(found: ReadonlyMap<string, T>, others: ReadonlyMap<string, T>): T[] {
  return [...found].filter(([key]) => !others.has(key)).map(([, value]) => value);
}
