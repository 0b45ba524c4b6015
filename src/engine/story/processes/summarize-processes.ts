import type { Changes, ListeningPort } from "../../../shared/protocol/index.ts";

/** Services that the summary names. */
const SERVICES_NAMED_MAX = 3;
/** A service with more ports is named without them. */
const PORTS_NAMED_MAX = 2;
/** Programs that run others: what they run is the service. */
const INTERPRETERS = /^(python|perl|ruby|php|node|bun|deno|java|sh|bash|dash)[\d.]*$/;

/** Returns services that came and went, and what else began or ended: "redis up, +1 process". */
export function summarizeProcesses({ processes, ports }: Changes): string | null {
  if (processes === null || ports === null) return null;
  const parts = [...tellServices(ports, processes), ...tellOthers(ports, processes)];
  return parts.length === 0 ? null : parts.join(", ");
}

type Ports = NonNullable<Changes["ports"]>;
type Processes = NonNullable<Changes["processes"]>;

function tellServices(ports: Ports, processes: Processes): string[] {
  const [opened, closed] = [ports.opened, ports.closed].map(ownersByName) as [Owners, Owners];
  const still = new Set(processes.still.map(({ pid }) => pid));
  const told = [...new Set([...opened.keys(), ...closed.keys()])].map((name) => {
    const [came, went] = [opened.get(name) ?? [], closed.get(name) ?? []];
    const isSame = [...came, ...went].every((pid) => pid !== null && still.has(pid));
    const on = describePorts(
      ports.opened.filter(({ command }) => serviceName(command ?? "") === name),
    );
    if (came.length === 0) return `${name} ${isSame ? "listens no more" : "down"}`;
    if (isSame) return on === "" ? `${name} listens` : `${name} answers${on}`;
    return went.length === 0 ? `${name} up${on}` : `${name} restarted`;
  });
  const others = told.length - SERVICES_NAMED_MAX;
  return [
    ...told.slice(0, SERVICES_NAMED_MAX),
    ...(others > 0 ? [`${others} other ${others === 1 ? "service" : "services"}`] : []),
  ];
}

/** Returns " on 3000", where that is brief. */
function describePorts(opened: readonly ListeningPort[]): string {
  const tcp = opened.filter(({ protocol }) => protocol === "tcp").map(({ port }) => port);
  const numbers = [...new Set(tcp)].filter((port) => port !== null);
  const isBrief = numbers.length > 0 && numbers.length <= PORTS_NAMED_MAX;
  return isBrief ? ` on ${numbers.join(" and ")}` : "";
}

type Owners = Map<string, (number | null)[]>;

function ownersByName(ports: readonly ListeningPort[]): Owners {
  const owners: Owners = new Map();
  for (const { command, pid } of ports) {
    const name = serviceName(command ?? "");
    owners.set(name, [...(owners.get(name) ?? []), pid]);
  }
  return owners;
}

/** What belongs to a service that was told of is no news. */
function tellOthers(ports: Ports, { started, ended }: Processes): string[] {
  const count = (processes: Processes["started"], owned: readonly ListeningPort[]) => {
    const known = new Set(owned.map(({ pid }) => pid));
    // Parents come before children.
    for (const { pid, parentPid } of processes) if (known.has(parentPid)) known.add(pid);
    return processes.filter(({ pid }) => !known.has(pid)).length;
  };
  const [came, went] = [count(started, ports.opened), count(ended, ports.closed)];
  if (came + went === 0) return [];
  const signs = [...(came > 0 ? [`+${came}`] : []), ...(went > 0 ? [`−${went}`] : [])];
  return [`${signs.join(" ")} ${came + went === 1 ? "process" : "processes"}`];
}

/** Returns how people call a server: "redis" of "redis-server *:6379", "http.server" of Python's. */
export function serviceName(command: string): string {
  const [first = "", ...words] = command.split(" ");
  const program = baseName(first);
  const module = words[words.indexOf("-m") + 1];
  const script = words.find((word) => !word.startsWith("-"));
  const isRun = INTERPRETERS.test(program);
  const run = words.includes("-m") && program.startsWith("python") ? module : script;
  const name = isRun && run !== undefined && !words.includes("-c") ? baseName(run) : program;
  const plain = name.replace(/:$/, "").replace(/[-_](server|daemon)$/, "");
  return plain === "" ? "a service" : plain;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
