import type { Logger, SerialQueues, StateLayout } from "../base/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type * as criu from "../criu/index.ts";
import type { LimitsHost } from "../limits/index.ts";
import type { NetworkHost, PortForwards } from "../network/index.ts";
import type * as sandbox from "../sandbox/index.ts";
import type { Store } from "../store/index.ts";
import type { InitLink, ScreenModel } from "../terminal/index.ts";
import type { LiveSessions } from "./live-sessions.ts";

/** Facts about this daemon and its machine that operations need. */
export interface EngineSettings {
  layout: StateLayout;
  criu: criu.CriuProgram;
  criuVersion: string;
  kernel: string;
  arch: string;
  initBinaryPath: string;
  snapshotHookPath: string;
  bashRc: string;
  posixStartup: string;
  /** Content for a session's /etc/resolv.conf, for one with a network of its own. */
  resolvConf: string | null;
}

/** Everything the engine works with; made once, in the composition root. */
export interface EnginePorts {
  settings: EngineSettings;
  catalog: Catalog;
  store: Store;
  network: NetworkHost;
  forwards: PortForwards;
  limits: LimitsHost;
  sandbox: typeof sandbox;
  criu: Pick<typeof criu, "dump" | "restore" | "readImageProcesses" | "readImageSockets">;
  connectInit: typeof InitLink.connect;
  createScreen: (columns: number, rows: number) => ScreenModel;
  live: LiveSessions;
  /** One queue per session: operations that change it run one after the other. */
  leases: SerialQueues;
  /** Work that goes on after an answer: flushing, cleaning. */
  background: SerialQueues;
  logger: Logger;
  newId: () => string;
}
