import type { Bind, NetMode, OperationInput } from "../../shared/protocol/index.ts";
import { terminalSize } from "./terminal/terminal-size.ts";

/** Options of `new` and `run` as they were typed. */
export interface NewOptions {
  name?: string;
  base?: string;
  cwd?: string;
  net?: NetMode;
  user?: string;
  shell?: string;
  memory?: number;
  cpus?: number;
  pids?: number | null;
  disk?: number;
  standby?: string;
  /** True where `--auto` was given without a policy. */
  auto?: string | true;
  env?: Record<string, string>;
  bind?: Bind[];
}

/** Returns the input of the operation `new`; the session's terminal gets this terminal's size. */
export function newInput(options: NewOptions): OperationInput<"new"> {
  const { name, base, cwd, net, user, env, shell, cpus, pids, standby } = options;
  const auto = options.auto === true ? "hybrid" : options.auto;
  const size = terminalSize(process.stdout) ?? {};
  return withoutUndefined({
    ...{ name, base, cwd, net, user, env, shell, cpus, pids, standby, auto },
    binds: options.bind,
    memoryBytes: options.memory,
    diskBytes: options.disk,
    ...size,
  });
}

/** Leaves out what was not given, so that the daemon's defaults apply. */
export function withoutUndefined<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
