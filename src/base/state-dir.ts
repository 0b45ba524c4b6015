import path from "node:path";

/** Where a daemon keeps everything, unless WAYPOINT_DIR says otherwise. */
export const STATE_DIR_DEFAULT = "/var/lib/waypoint";

/** Paths inside a state directory; docs/FORMAT.md describes each. */
export interface StateLayout {
  stateDir: string;
  socketPath: string;
  logPath: string;
  lockPath: string;
  catalogPath: string;
  /** What agents hand over, and what no restore takes back. */
  agentDir: string;
  namespaceDir: string;
  namespacePath: string;
  storeDir: string;
  storeImagePath: string;
  imagesDir: string;
  /** Where moments are mounted to be browsed, if the user names no directory. */
  browseDir: string;
  /** Logs of the last failed dumps and restores. */
  failedLogsDir: string;
  /** Short and unique on this machine for this directory; names what cannot live in it. */
  key: string;
}

/** Returns the layout of the state directory `stateDir`. */
export function stateLayout(stateDir: string): StateLayout {
  const root = path.resolve(stateDir);
  return {
    stateDir: root,
    socketPath: path.join(root, "daemon.sock"),
    logPath: path.join(root, "daemon.log"),
    lockPath: path.join(root, "daemon.lock"),
    catalogPath: path.join(root, "catalog.sqlite"),
    agentDir: path.join(root, "agent"),
    namespaceDir: path.join(root, "ns"),
    namespacePath: path.join(root, "ns", "mnt"),
    storeDir: path.join(root, "store"),
    storeImagePath: path.join(root, "store.img"),
    imagesDir: path.join(root, "images"),
    browseDir: path.join(root, "browse"),
    failedLogsDir: path.join(root, "failed"),
    get key() {
      // Loading the module takes a client as long as all else that it does; only the daemon asks.
      const { createHash } = process.getBuiltinModule("node:crypto");
      return createHash("sha256").update(root).digest("hex").slice(0, 8);
    },
  };
}
