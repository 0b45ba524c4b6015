import { readFileSync } from "node:fs";
import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import type { ApprovalDecision, OnApproval } from "../../client/index.ts";
import { hasAsker } from "../confirm.ts";
import type { CommandContext } from "../context.ts";
import { heldLine } from "./held-line.ts";

/** What was typed before there was a question answers none. */
const TYPED_AHEAD_MS = 250;
const REDRAWN_EVERY_MS = 1_000;
const ERASE = "\r\u001b[K";
const CTRL_C = 3;

/** Where keys come from while a question stands. */
export interface KeySource {
  /** Hands over what is typed, until it is disposed of. */
  listen(take: (bytes: Uint8Array) => void): Disposable;
}

/**
 * Returns what asks the person who waits at this terminal for their own command, `[y/N]` with the time
 * that is left; `undefined` where nobody sits there or the terminal is another program's just now.
 */
export function askHere(context: CommandContext): OnApproval | undefined {
  if (!hasAsker(context) || !isInForeground()) return undefined;
  return async (request, { signal }) => await askOn(rawInput, request, signal);
}

/** Asks with keys from elsewhere: y approves, n and Enter deny, all others say nothing. */
export function askOn(
  keys: KeySource,
  request: ApprovalInfo,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
  let isAsked = false;
  let isOver = false;
  const draw = () => {
    if (!isAsked || isOver) return;
    const columns = process.stderr.columns || 80;
    const how = { columns, nowMs: Date.now(), keys: "[y/N]" };
    process.stderr.write(`${ERASE}${heldLine(request, how)}`);
  };
  const ask = () => {
    isAsked = true;
    draw();
  };
  const listening = keys.listen((bytes) => {
    if (bytes.includes(CTRL_C)) process.emit("SIGINT");
    const answer = isAsked ? answerIn(bytes) : undefined;
    if (answer !== undefined) end(answer);
  });
  // A process that was held up reads what has come meanwhile before it asks.
  const first = setTimeout(() => setImmediate(() => setImmediate(ask)), TYPED_AHEAD_MS);
  const timer = setInterval(draw, REDRAWN_EVERY_MS);
  // At once, before anything else is said on this terminal.
  const end = (answer: ApprovalDecision) => {
    clearTimeout(first);
    clearInterval(timer);
    listening[Symbol.dispose]();
    if (isAsked && !isOver) process.stderr.write(ERASE);
    isOver = true;
    resolve(answer);
  };
  signal.addEventListener("abort", () => end(undefined), { once: true });
  if (signal.aborted) end(undefined);
  return promise;
}

/** A paste, or a key that sends several bytes, is no answer. */
function answerIn(bytes: Uint8Array): ApprovalDecision {
  if (bytes.length !== 1) return undefined;
  const key = String.fromCharCode(bytes[0] ?? 0);
  if (key === "y" || key === "Y") return "approve";
  return "nN\r\n".includes(key) ? "deny" : undefined;
}

/** The terminal of a command that reads nothing of it, raw while a question stands. */
const rawInput: KeySource = {
  listen: (take) => {
    const { stdin } = process;
    const cook = () => {
      try {
        stdin.setRawMode(false);
      } catch {
        // The terminal is gone, so there is nothing to put back.
      }
    };
    stdin.setRawMode(true);
    process.once("exit", cook);
    stdin.on("data", take).resume();
    return {
      [Symbol.dispose]: () => {
        stdin.off("data", take).pause();
        process.off("exit", cook);
        cook();
      },
    };
  },
};

/** A job in the background that takes the terminal would be stopped by it. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The name of the program, in parentheses, may have spaces.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return false;
  }
}
