import type { Changes, ListeningPort } from "../../../shared/protocol/index.ts";
import { NOTHING_TOLD, type SummaryPart } from "../section.ts";

/** Services that the summary names. */
const SERVICES_NAMED_MAX = 3;
/** A service with more ports is named without them. */
const PORTS_NAMED_MAX = 2;
/** Programs that run others: what they run is the service. */
const INTERPRETERS = /^(python|perl|ruby|php|node|bun|deno|java|sh|bash|dash)[\d.]*$/;

/** Returns services that came and went, and what else began or ended: "redis up", "+1 process". */
export function summarizeProcesses({ processes, ports }: Changes): SummaryPart {
  if (processes === null || ports === null) return NOTHING_TOLD;
  return { named: tellServices(ports, processes), counted: tellOthers(ports, processes) };
}

type Ports = NonNullable<Changes["ports"]>;
type Processes = NonNullable<Changes["processes"]>;

function tellServices(ports: Ports, processes: Processes): string[] {
  const [opened, closed] = [ports.opened, ports.closed].map(ownersByName) as [Owners, Owners];
  const still = new Set(processes.still.map(({ pid }) => pid));
  const told = [...new Set([...opened.keys(), ...closed.keys()])].map((name) => {
    const [came, went] = [opened.get(name) ?? [], closed.get(name) ?? []];
    const isSame = [...came, ...went].every((pid) => pid !== null && still.has(pid));
    const portsOf = (listening: readonly ListeningPort[]) =>
      briefPorts(listening.filter(({ command }) => serviceName(command ?? "") === name));
    const [before, after] = [portsOf(ports.closed), portsOf(ports.opened)];
    const on = after === "" ? "" : ` on ${after}`;
    if (before !== "" && after !== "" && before !== after) return `${name} ${before}→${after}`;
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

/** Returns "3000", "80 and 443"; nothing where that is not brief. */
function briefPorts(listening: readonly ListeningPort[]): string {
  const tcp = listening.filter(({ protocol }) => protocol === "tcp").map(({ port }) => port);
  const numbers = [...new Set(tcp)].filter((port) => port !== null);
  const isBrief = numbers.length > 0 && numbers.length <= PORTS_NAMED_MAX;
  return isBrief ? numbers.join(" and ") : "";
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
