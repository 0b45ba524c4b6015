import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { countsSockets } from "../../formats/proc/index.ts";
import { listPids } from "./process-tree.ts";
import { isUntimedWait } from "./untimed-wait.ts";

/** A session with more threads is never so quiet that it is worth to look at each of them. */
const THREADS_MAX = 64;
const SOCKET_COUNTS = ["sockstat", "sockstat6"];
const COUNTED = ["TCP", "UDP", "UDPLITE", "RAW"] as const;
/** Sockets that are counted nowhere, one line each below a line of titles. */
const SOCKET_TABLES = ["icmp", "icmp6", "packet"];

/** What is known of one thread that waits. */
interface ThreadActivity {
  /** The call that it waits in, with its arguments and its place in the program. */
  wait: string;
  /** Signals that it has not taken yet, and those of its process. */
  signals: string;
  /** How long and how often it has run. */
  ran: string;
}

/** A session in which nothing runs on by itself. */
export interface TreeActivity {
  threads: ReadonlyMap<string, ThreadActivity>;
  /** What has come and gone through its network; constant without any socket. */
  network: string;
}

/**
 * Looks at all threads of a session.
 *
 * @returns null when one of them runs, or may run on by itself: a timeout, a timer, asynchronous
 * input. What it cannot tell is such a case, but for alarms, which are in the images only.
 */
export function treeActivity(initHostPid: number): TreeActivity | null {
  try {
    const threads = new Map<string, ThreadActivity>();
    for (const hostPid of listPids(initHostPid)) {
      if (!observeProcess(hostPid, threads)) return null;
    }
    if (threads.size === 0) return null;
    return { threads, network: networkOf(initHostPid) };
  } catch {
    return null; // Somebody ended meanwhile: not quiet.
  }
}

/** Tells whether nothing has run, been signalled or arrived between two looks. */
export function isSameActivity(before: TreeActivity, after: TreeActivity): boolean {
  return isSame(before, after, ({ wait, signals, ran }) => `${wait} ${signals} ${ran}`);
}

/**
 * Tells whether all threads but PID 1 wait as they did before, whatever they ran in between.
 *
 * A dump makes each thread run. One that waited without end before it, and waits in the same call
 * at the same place after it, has come to nothing else meanwhile.
 */
export function isSameWait(
  before: TreeActivity,
  after: TreeActivity,
  initHostPid: number,
): boolean {
  const isInit = (key: string) => key.startsWith(`${initHostPid}:`);
  return isSame(before, after, ({ wait, signals }, key) =>
    isInit(key) ? signals : `${wait} ${signals}`,
  );
}

function isSame(
  before: TreeActivity,
  after: TreeActivity,
  read: (thread: ThreadActivity, key: string) => string,
): boolean {
  if (before.network !== after.network || before.threads.size !== after.threads.size) return false;
  return [...before.threads].every(([key, thread]) => {
    const other = after.threads.get(key);
    return other !== undefined && read(thread, key) === read(other, key);
  });
}

/** Adds the threads of a process; false when one of them is not quiet. */
function observeProcess(hostPid: number, threads: Map<string, ThreadActivity>): boolean {
  const directory = `/proc/${hostPid}`;
  const targets = descriptorTargets(directory);
  const readsPipe = (fd: number) => targets.get(fd)?.startsWith("pipe:") === true;
  for (const thread of readdirSync(`${directory}/task`)) {
    const task = `${directory}/task/${thread}`;
    const stat = readFileSync(`${task}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = ""] = fields;
    const isGone = state === "Z";
    const wait = isGone ? "" : readFileSync(`${task}/syscall`, "utf8");
    // A stopped thread runs when it is told to, whatever it waited for.
    const isQuiet = isGone || state === "T" || (state === "S" && isUntimedWait(wait, readsPipe));
    if (!isQuiet || threads.size === THREADS_MAX) return false;
    const key = `${hostPid}:${thread}:${fields[19]}`;
    threads.set(key, { wait: `${state} ${wait}`, ...countersOf(task) });
  }
  return !hasTimersOrAsynchronousInput(directory, targets);
}

function countersOf(task: string): { signals: string; ran: string } {
  const status = readFileSync(`${task}/status`, "utf8");
  const lines = (names: RegExp) =>
    status
      .split("\n")
      .filter((line) => names.test(line))
      .join(" ");
  const schedstat = readFileSync(`${task}/schedstat`, "utf8").trim().split(" ");
  return {
    signals: lines(/^(SigPnd|ShdPnd|SigBlk):/),
    // The time that it waited for a processor, in the middle, says nothing.
    ran: `${schedstat[0]} ${schedstat[2]} ${lines(/^(non)?voluntary_ctxt_switches:/)}`,
  };
}

function hasTimersOrAsynchronousInput(
  directory: string,
  targets: ReadonlyMap<number, string>,
): boolean {
  if ([...targets.values()].includes("anon_inode:[timerfd]")) return true;
  if (readFileSync(`${directory}/timers`, "utf8") !== "") return true;
  return readFileSync(`${directory}/maps`, "utf8").includes("/[aio]");
}

function descriptorTargets(directory: string): Map<number, string> {
  return new Map(
    readdirSync(`${directory}/fd`).map((fd) => [Number(fd), readlinkSync(`${directory}/fd/${fd}`)]),
  );
}

function networkOf(initHostPid: number): string {
  const directory = `/proc/${initHostPid}/net`;
  const hasSockets =
    SOCKET_COUNTS.some((file) => countsSockets(textOf(`${directory}/${file}`), COUNTED)) ||
    SOCKET_TABLES.some((table) => linesOf(`${directory}/${table}`).length > 1);
  // Kernel sockets of this family belong to process 0.
  const hasNetlink = linesOf(`${directory}/netlink`).some((line) =>
    /^\S+\s+\d+\s+[1-9]/.test(line),
  );
  return hasSockets || hasNetlink ? readFileSync(`${directory}/dev`, "utf8") : "";
}

function linesOf(file: string): string[] {
  return textOf(file).split("\n").filter(Boolean);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // This kernel lacks the protocol.
  }
}
