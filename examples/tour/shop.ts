import { randomUUID } from "node:crypto";
import path from "node:path";
import { expectThat, TourFailure, waitFor } from "./expectation.ts";
import type { Shell } from "./shell.ts";

export const RIGHT_TOTAL = "$39.98";

const READY_DEADLINE_MS = 15_000;
const ORDER = "http://127.0.0.1:3000/total?sku=mug&quantity=2";

export const TOTAL_COMMAND = `curl -sS '${ORDER}'`;
export const START_SERVER = "node server.mjs >>server.log 2>&1 </dev/null &";

export const SHOP_PROGRAMS = ["redis-server", "node", "sqlite3", "tmux", "python"];

/** What can be observed of the running shop from inside its session. */
export interface Stock {
  total: string;
  /** The shell's job table, as `jobs -l` prints it. */
  jobs: string;
  /** The variable that only the Python prompt knows, and its address in memory. */
  variable: string;
  ticks: number;
  /** Process id and command of each of the shop's programs. */
  processes: string[];
}

/** Starts Redis, the server, a background job of the shell and a Python prompt. */
export async function startShop(shell: Shell): Promise<void> {
  await shell.run("sqlite3 shop.db <schema.sql && cp shop.db shop.db.copy");
  await shell.run('redis-server --save "" >redis.log 2>&1 </dev/null &');
  await waitUntilSucceeds(shell, "Redis", "redis-cli ping");
  await shell.run("redis-cli set shop:discount-percent 25");
  await shell.run(START_SERVER);
  await waitForServer(shell);
  await shell.run("count() { while :; do echo $((++ticks)) >ticks; sleep 0.2; done; }");
  await shell.run("count </dev/null >/dev/null 2>&1 &");
  await shell.run("tmux -L shop new-session -d -x 100 -y 24 python3 -q");
  await waitForPrompt(shell);
  await shell.run("tmux -L shop send-keys 'basket = [\"mug\"] * 2' Enter");
}

/** Waits until the server answers; with `formerPid`, until another process does. */
export async function waitForServer(shell: Shell, formerPid?: number): Promise<void> {
  await waitFor("the shop's server", READY_DEADLINE_MS, async () => {
    const result = await shell.ask("curl -fsS http://127.0.0.1:3000/health");
    if (result.exitCode !== 0) return undefined;
    const { pid } = JSON.parse(result.stdout) as { pid: number };
    return pid === formerPid ? undefined : pid;
  });
}

/** Shows the total of two mugs and returns it with the server's process id. */
export async function showTotal(shell: Shell): Promise<{ total: string; pid: number }> {
  return parseTotal((await shell.run(TOTAL_COMMAND)).stdout);
}

/** Returns the total of two mugs with that shipping. */
export async function readTotal(
  shell: Shell,
  shipping = "standard",
): Promise<{ total: string; pid: number }> {
  return parseTotal(await shell.read(`curl -sS '${ORDER}&shipping=${shipping}'`));
}

/** Looks at everything that a restore has to bring back. */
export async function takeStock(shell: Shell): Promise<Stock> {
  return {
    total: (await readTotal(shell)).total,
    jobs: await shell.read("jobs -l"),
    variable: await askPrompt(shell),
    ticks: await readTicks(shell),
    processes: await listProcesses(shell),
  };
}

/** Returns how far the background job has counted, once that is more than `more`. */
export async function readTicks(shell: Shell, more = 0): Promise<number> {
  return waitFor("the background job", READY_DEADLINE_MS, async () => {
    // The job empties the file before it writes it, so an empty answer says nothing.
    const ticks = Number((await shell.ask("cat ticks")).stdout);
    return ticks > more ? ticks : undefined;
  });
}

/** Asks the Python prompt for its variable, through the keyboard as a person would. */
async function askPrompt(shell: Shell): Promise<string> {
  const question = randomUUID().slice(0, 8);
  await shell.read(`tmux -L shop send-keys '"${question}", basket, hex(id(basket))' Enter`);
  const answerPattern = new RegExp(`^\\('${question}', (.*)\\)$`, "m");
  return waitFor("an answer of the Python prompt", READY_DEADLINE_MS, async () => {
    const screen = await shell.read("tmux -L shop capture-pane -p");
    return answerPattern.exec(screen)?.[1];
  });
}

async function waitForPrompt(shell: Shell): Promise<void> {
  await waitFor("the Python prompt", READY_DEADLINE_MS, async () => {
    const screen = await shell.read("tmux -L shop capture-pane -p");
    return screen.includes(">>>") ? true : undefined;
  });
}

/** Lists the shop's own processes: a prompt's helpers and the job's `sleep` come and go. */
async function listProcesses(shell: Shell): Promise<string[]> {
  const processes = await shell.session.ps();
  return processes
    .filter(({ command }) => isOfShop(command))
    .toSorted((a, b) => a.pid - b.pid)
    .map(({ pid, command }) => `${pid} ${command}`);
}

function isOfShop(command: string): boolean {
  const program = path.basename(command.split(" ", 1)[0] ?? "");
  return SHOP_PROGRAMS.some((name) => program.startsWith(name));
}

async function waitUntilSucceeds(shell: Shell, what: string, command: string): Promise<void> {
  await waitFor(what, READY_DEADLINE_MS, async () => {
    const { exitCode } = await shell.ask(command);
    return exitCode === 0 ? true : undefined;
  });
}

function parseTotal(answer: string): { total: string; pid: number } {
  const body = JSON.parse(answer) as { total?: string; pid?: number; error?: string };
  expectThat(body.total !== undefined, `The shop answered with an error: ${body.error}`);
  if (body.total === undefined || body.pid === undefined) throw new TourFailure(answer);
  return { total: body.total, pid: body.pid };
}
