import process from "node:process";
import { isInMemory, type Logger, type StateLayout, withDeadline } from "../../base/index.ts";
import { closeEngine, releaseEngine, STEP_TIMEOUT_MS } from "../../engine/close-engine.ts";
import type { Engine, StreamClient } from "../../engine/ports/index.ts";
import { type EngineOperations, HANDLERS, type OperationHandler } from "../../operations/index.ts";
import { ERROR_REGISTRY, WaypointError } from "../../shared/errors/index.ts";
import {
  CONTRACT,
  type OperationName,
  type OperationOutput,
  type RequestMessage,
  WAYPOINT_VERSION,
} from "../../shared/protocol/index.ts";
import { Connection } from "./connection.ts";
import { releaseNamespace } from "./enter-namespace.ts";
import { ListeningSocket } from "./listening-socket.ts";
import { OwnMemory } from "./own-memory.ts";

/** What a client of another version may ask for: it must be able to look at the daemon and end it. */
const ANY_VERSION: ReadonlySet<string> = new Set(["daemon.status", "daemon.stop"]);
const STARTED_AT = new Date().toISOString();

/** The daemon's server on its socket. */
export class Daemon {
  readonly #engine: Engine;
  readonly #layout: StateLayout;
  readonly #logger: Logger;
  readonly #socket: ListeningSocket;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #handlers: { [N in OperationName]: OperationHandler<N> };
  readonly #connections = new Set<Connection>();
  readonly #memory = new OwnMemory();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#layout = engine.settings.layout;
    this.#logger = engine.logger;
    const own = {
      "daemon.status": () => this.#status(),
      "daemon.stop": (input: { sessions: boolean }) => this.#stop(input.sessions),
    };
    this.#handlers = { ...(HANDLERS satisfies EngineOperations), ...own };
    this.#socket = new ListeningSocket(
      engine.settings.layout.socketPath,
      this.#logger,
      (socket) => {
        const connection = new Connection(socket);
        this.#connections.add(connection);
        const serving = connection.serve((request, client) => this.#answer(request, client));
        void serving.finally(() => this.#connections.delete(connection));
      },
    );
  }

  /** Listens on the state directory's socket; resolves when clients can connect. */
  async listen(): Promise<void> {
    await this.#socket.listen();
  }

  /** Resolves when the daemon was asked to stop and has finished what was under way. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  /**
   * Stops listening and finishes the operations under way; the sessions live on.
   *
   * @param stepTimeoutMs  goes on without what takes longer. @defaultValue all is waited for
   */
  async shutDown(stepTimeoutMs?: number): Promise<void> {
    this.#stopListening();
    this.#memory.close();
    await closeEngine(this.#engine, stepTimeoutMs);
    this.#stopped.resolve();
  }

  async #answer(request: RequestMessage, client: StreamClient): Promise<unknown> {
    if (!ANY_VERSION.has(request.operation)) requireSameVersion(request.version);
    const name = requireOperation(request.operation);
    const parsed = CONTRACT[name].input.safeParse(request.input);
    if (!parsed.success) throw invalidInput(name, parsed.error.issues);
    const handler = this.#handlers[name] as (
      input: unknown,
      engine: Engine,
      client: StreamClient,
    ) => Promise<OperationOutput<OperationName>>;
    this.#memory.noteWork();
    try {
      return await handler(parsed.data, this.#engine, client);
    } catch (thrown) {
      const error = this.#engine.store.health.explain(thrown);
      this.#logFailure(name, error);
      throw error;
    } finally {
      this.#memory.noteWork();
    }
  }

  /** A user's typo is no event of the daemon; the stack of anything else may be needed. */
  #logFailure(name: string, error: WaypointError): void {
    const { kind } = ERROR_REGISTRY[error.code];
    const isUsers = kind === "usage" || kind === "state" || kind === "cancelled";
    if (isUsers)
      this.#logger.info(`operation ${name}`, { code: error.code, message: error.message });
    else this.#logger.error(`operation ${name}`, error);
  }

  async #releaseAll(): Promise<void> {
    try {
      await releaseEngine(this.#engine);
    } finally {
      await withDeadline(
        "release the mounts",
        STEP_TIMEOUT_MS,
        releaseNamespace(this.#layout),
      ).catch((error: unknown) => this.#logger.error("release the mounts", error));
    }
  }

  #stopListening(): void {
    for (const connection of this.#connections) connection.endWhenIdle();
    this.#socket.close();
  }

  async #status(): Promise<OperationOutput<"daemon.status">> {
    const { usedBytes, freeBytes } = this.#engine.store.space.usage();
    const images = this.#engine.store.images.usage();
    return {
      version: WAYPOINT_VERSION,
      pid: process.pid,
      stateDir: this.#layout.stateDir,
      isStateInMemory: isInMemory(this.#layout.stateDir),
      startedAt: STARTED_AT,
      sessionsRunning: this.#engine.live.all().length,
      memoryBytes: process.memoryUsage.rss(),
      storeUsedBytes: usedBytes,
      storeFreeBytes: freeBytes,
      storeHealth: this.#engine.store.health.now(),
      imagesUsedBytes: images.usedBytes,
      imagesBudgetBytes: images.budgetBytes,
      warmMemory: await this.#engine.warmMemory.status(),
      networks: this.#engine.network.status(),
      standbys: this.#standbyStatus(),
    };
  }

  #standbyStatus() {
    const { standbys, settings } = this.#engine;
    const { policy, budgetBytes } = settings.standby;
    return { ...standbys.status(), policy, budgetBytes };
  }

  async #stop(withSessions: boolean): Promise<OperationOutput<"daemon.stop">> {
    // Whoever comes from now on finds no daemon, and starts the next one.
    this.#stopListening();
    try {
      if (withSessions) await this.#releaseAll();
      return { stopped: true };
    } finally {
      // The answer must leave before this process ends, whatever could not be ended.
      setImmediate(() => void this.shutDown(withSessions ? STEP_TIMEOUT_MS : undefined));
    }
  }
}

function requireSameVersion(version: string): void {
  if (version === WAYPOINT_VERSION) return;
  throw new WaypointError(
    "DAEMON_VERSION_MISMATCH",
    `The daemon is version ${WAYPOINT_VERSION}, this command is version ${String(version).slice(0, 40)}.`,
    {
      hint: "`waypoint daemon stop` ends the daemon; the sessions live on and the next command starts a daemon of its own version.",
      detail: { daemon: WAYPOINT_VERSION, client: version },
    },
  );
}

function requireOperation(name: string): OperationName {
  if (Object.hasOwn(CONTRACT, name)) return name as OperationName;
  throw new WaypointError("USAGE_INVALID", `There is no operation ${JSON.stringify(name)}.`);
}

function invalidInput(
  name: string,
  issues: readonly { path: PropertyKey[]; message: string }[],
): WaypointError {
  const first = issues[0];
  const where = first === undefined || first.path.length === 0 ? "" : ` (${first.path.join(".")})`;
  return new WaypointError("USAGE_INVALID", `The input of ${name} is not valid${where}.`, {
    hint: `${issues
      .map(({ path, message }) => `${path.join(".")}: ${message}`)
      .slice(0, 5)
      .join("; ")}.`,
    detail: { issues: issues.slice(0, 20).map(({ path, message }) => ({ path, message })) },
  });
}
