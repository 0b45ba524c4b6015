import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationInput, StateSummary } from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import { openStream } from "./operation-stream.ts";
import { type CallControl, splitControl } from "./options.ts";
import { requireSize } from "./require-size.ts";

/** Who reads a value, and in which form it is. */
export interface StateSchema {
  name: string;
  /** A whole number from 1 on; each change of the form has the next one. */
  version: number;
}

/** How a value is read whose form may be an older one. */
export interface ReadStateOptions extends CallControl {
  /** What today's code reads. */
  schema?: StateSchema;
  /** Brings a value from one version to the next: the entry at 1 from version 1 to 2. */
  // biome-ignore lint/suspicious/noExplicitAny: whoever wrote a value knows its form
  migrations?: Readonly<Record<number, (value: any) => unknown>>;
}

/** What is changed at once: all of it happens or nothing. */
export type StateUpdate = Omit<OperationInput<"state.set">, "session"> & CallControl;

/** Returns a value of the state at any moment; undefined where there is none. */
export async function readStateValue<T>(
  stateDir: string,
  moment: string,
  key: string,
  { signal, schema, migrations = {} }: ReadStateOptions,
): Promise<T | undefined> {
  const control = signal === undefined ? {} : { signal };
  const stream = await openStream(stateDir, "state", { moment, key }, control);
  const pieces: Uint8Array[] = [];
  try {
    for await (const event of stream) if (event.kind !== "notice") pieces.push(event.bytes);
    const { value: facts } = await stream.result;
    const value = JSON.parse(Buffer.concat(pieces).toString());
    if (schema === undefined) return value;
    // Only who has migrations pays for loading them.
    const { migrateState } = await import("../../portable/agent-state/index.ts");
    const found = facts?.schema ?? { ...schema, version: 1 };
    return migrateState(value, found, schema, migrations as never) as T;
  } catch (error) {
    if (error instanceof WaypointError && error.code === "STATE_KEY_NOT_FOUND") return undefined;
    throw error;
  }
}

/** What an agent has beside its machine: captured with it, and put back with it. */
export class AgentState {
  readonly #stateDir: string;
  readonly #session: string;

  constructor(stateDir: string, session: string) {
    this.#stateDir = stateDir;
    this.#session = session;
  }

  /** Returns its keys, and the version that {@link update} can be bound to. */
  async keys(control: CallControl = {}): Promise<StateSummary> {
    return await callOperation(this.#stateDir, "state", { moment: this.#session }, control);
  }

  /**
   * Returns a value as it is now; undefined where there is none.
   *
   * With a schema, a value of an older version goes through the migrations first; one without a schema
   * counts as version 1.
   *
   * @throws FORMAT_TOO_NEW  newer code has written it.
   * @throws USAGE_INVALID  it is of another schema, or a migration is missing.
   */
  async get<T = unknown>(key: string, options: ReadStateOptions = {}): Promise<T | undefined> {
    return await readStateValue<T>(this.#stateDir, this.#session, key, options);
  }

  /** Keeps a value, with whose and in which form it is. @throws as {@link update} */
  async set(
    key: string,
    value: unknown,
    { schema, ...control }: { schema?: StateSchema } & CallControl = {},
  ): Promise<StateSummary> {
    const entry = { value, ...(schema === undefined ? {} : { schema }) };
    return await this.update({ ...control, set: { [key]: entry } });
  }

  /** Adds items to the end of a list, which begins with them where it is not there yet. */
  async append(
    key: string,
    items: readonly unknown[],
    control: CallControl = {},
  ): Promise<StateSummary> {
    return await this.update({ ...control, append: { [key]: [...items] } });
  }

  /** Removes keys; one that is not there is none. */
  async remove(keys: readonly string[], control: CallControl = {}): Promise<StateSummary> {
    return await this.update({ ...control, remove: [...keys] });
  }

  /**
   * Changes several keys at once: all of it is kept, or nothing.
   *
   * @throws STATE_CONFLICT  the state is no longer of `ifVersion`: somebody else has changed it.
   * @throws STATE_TOO_LARGE | USAGE_INVALID | SESSION_NOT_FOUND | STORE_FULL
   */
  async update(update: StateUpdate): Promise<StateSummary> {
    const { control, input } = splitControl(update);
    requireSize(input);
    const request = { ...input, session: this.#session };
    return await callOperation(this.#stateDir, "state.set", request, control);
  }
}
