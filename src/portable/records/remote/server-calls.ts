import { setTimeout as delay } from "node:timers/promises";
import { WaypointError } from "../../../shared/errors/index.ts";

/**
 * What a server's failure means: `lost` may go away by itself, and is tried again; `unreachable` will
 * not; it is `full`, or has `failed` for a reason of its own.
 */
export type Failure = "lost" | "unreachable" | "full" | "failed";

export interface Server {
  /** As users know it: "PostgreSQL". */
  name: string;
  /** Texts that no error may show. */
  secrets: readonly string[];
  failureOf: (error: unknown) => Failure;
}

const TRIES_MAX = 6;
const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 2000;
/** A server that has not answered by then does not. */
const ANSWER_MS_MAX = 60_000;
const REASON_CHARS_MAX = 500;

const LOST_CODES = [
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EAI_AGAIN", "ENOENT"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN"],
];

/** Calls to a server: tried again where that is safe, and explained where they fail. */
export class ServerCalls {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Does the work, which must change nothing when it is done twice.
   *
   * @throws STORE_UNREACHABLE, STORE_FULL, STORE_FAILED
   */
  async call<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await withDeadline(work);
      } catch (error) {
        if (error instanceof WaypointError) throw error;
        const failure = failureOf(this.#server, error);
        if (failure !== "lost" || tries === TRIES_MAX) throw this.#explain(failure, error, tries);
        const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** (tries - 1));
        // Not all at once, where many clients have lost the same server.
        await delay(pauseMs * (0.5 + Math.random() / 2));
      }
    }
  }

  #explain(failure: Failure, error: unknown, tries: number): WaypointError {
    const { name, secrets } = this.#server;
    const reason = redact(reasonOf(error), secrets).slice(0, REASON_CHARS_MAX);
    // No cause: errors of drivers carry what they were configured with.
    const detail = { reason, tries };
    if (failure === "full") {
      return new WaypointError("STORE_FULL", `${name} has no room left: ${reason}`, {
        hint: "Make room on the server, or delete threads.",
        detail,
      });
    }
    if (failure === "failed") {
      return new WaypointError("STORE_FAILED", `${name} refused: ${reason}`, { detail });
    }
    return new WaypointError("STORE_UNREACHABLE", `${name} does not answer: ${reason}`, {
      hint: "Check that the server runs and that its address is right, then try again.",
      detail,
    });
  }
}

/** Hides secrets in a text, and whatever stands before the host of an address. */
export function redact(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret !== "");
  const hidden = known.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
  return hidden.replaceAll(/\/\/[^\s/@]+@/g, "//***@");
}

/** Tells whether an error is one of the network, which may work again later. */
export function isLostNetwork(error: unknown): boolean {
  return LOST_CODES.includes(codeOf(error));
}

/** Returns the code of an error, of the first one where it stands for several. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && !("code" in error)) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns the password of an address, as it is and as it is written there. */
export function secretsOf(address: string): string[] {
  const written = /^[a-z0-9+.-]+:\/\/[^/?#]*?:([^/?#]*)@/i.exec(address)?.[1];
  const inQuery = [...address.matchAll(/[?&\s]password=([^&\s]*)/gi)].map((match) => match[1]);
  return [written, ...inQuery].flatMap((each) => (each === undefined ? [] : [each, decoded(each)]));
}

class NoAnswer extends Error {}

function failureOf(server: Server, error: unknown): Failure {
  if (error instanceof NoAnswer || codeOf(error) === "ENOTFOUND") return "unreachable";
  return isLostNetwork(error) ? "lost" : server.failureOf(error);
}

async function withDeadline<T>(work: () => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const deadline = delay(ANSWER_MS_MAX, undefined, { signal: ended.signal, ref: false }).then(
    () => {
      throw new NoAnswer(`no answer in ${ANSWER_MS_MAX / 1000} seconds`);
    },
  );
  try {
    return await Promise.race([work(), deadline]);
  } finally {
    ended.abort();
    deadline.catch(() => {});
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map((each) => reasonOf(each)).join(", ");
  }
  if (!(error instanceof Error)) return String(error);
  return error.message === "" ? error.name : error.message;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
