import { randomBytes } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { type Logger, SerialQueues, type StateLayout } from "./base/index.ts";
import { Catalog } from "./catalog/index.ts";
import * as criu from "./criu/index.ts";
import { findCriu } from "./host/index.ts";
import { LimitsHost } from "./limits/index.ts";
import { NetworkHost, PortForwards } from "./network/index.ts";
import { ID_LENGTH } from "./protocol/index.ts";
import { recover } from "./recovery/index.ts";
import * as sandbox from "./sandbox/index.ts";
import { type EnginePorts, LiveSessions } from "./session/index.ts";
import { openStore, type StoreLimits } from "./store/index.ts";
import { BASH_RC, InitLink, POSIX_STARTUP, ScreenModel } from "./terminal/index.ts";

const ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** What the composition root is told; it reads no environment itself. */
export interface EngineOptions {
  layout: StateLayout;
  packageRoot: string;
  limits: StoreLimits;
  logger: Logger;
}

/**
 * Opens the engine on a state directory: the one place where adapters are made and joined.
 *
 * **Requires** the daemon's own mount namespace and the directory's lock.
 * **On success** every session that lives is connected to.
 */
export async function openEngine(options: EngineOptions): Promise<EnginePorts> {
  const { layout, packageRoot, logger } = options;
  const native = nativePaths(packageRoot);
  const store = await openStore(layout, os.totalmem(), options.limits);
  const catalog = Catalog.open(layout.catalogPath, (id, row) => {
    try {
      store.writeSession(id, row);
    } catch (error) {
      // The catalog has the row; its copy in the store must not make a full store unusable.
      logger.error("session not written to the store", error, { id });
    }
  });
  const { rlimitPreloadPath, initBinaryPath, snapshotHookPath } = native;
  const criuProgram = await findCriu({ packageRoot, rlimitPreloadPath });
  const network = await NetworkHost.open({ ownerKey: layout.key, netnsDir: "/run/netns" });
  const ports: EnginePorts = {
    settings: {
      layout,
      criu: criuProgram,
      criuVersion: criuProgram.version,
      kernel: os.release(),
      arch: os.arch(),
      initBinaryPath,
      snapshotHookPath,
      bashRc: BASH_RC,
      posixStartup: POSIX_STARTUP,
      resolvConf: network.resolvConf,
    },
    catalog,
    store,
    network,
    forwards: new PortForwards(),
    limits: LimitsHost.open({ ownerKey: layout.key }),
    sandbox,
    criu,
    connectInit: InitLink.connect,
    createScreen: (columns, rows) => new ScreenModel(columns, rows),
    live: new LiveSessions(),
    leases: new SerialQueues(),
    background: new SerialQueues(),
    logger,
    newId,
  };
  await criu.warmUp(criuProgram);
  await recover(ports);
  return ports;
}

/** Returns where the set-up put our own native programs. */
export function nativePaths(packageRoot: string) {
  const nativeDir = path.join(packageRoot, ".tools", "native");
  return {
    initBinaryPath: path.join(nativeDir, "waypoint-init"),
    snapshotHookPath: path.join(nativeDir, "snapshot-hook"),
    rlimitPreloadPath: path.join(nativeDir, "rlimit-preload.so"),
  };
}

/** 10 characters without those that are easily confused. */
function newId(): string {
  return Array.from(randomBytes(ID_LENGTH), (byte) => ID_ALPHABET[byte % 32]).join("");
}
