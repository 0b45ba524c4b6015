/** Deleted files that are still open and larger than this are not put into an image. */
export const GHOST_FILE_SIZE_MAX = "256M";

/** How long CRIU may take to stop all tasks; those already stopped wait meanwhile. */
export const FREEZE_TIMEOUT_S = 3;

/** A mount that CRIU leaves alone at a dump and binds from outside at a restore. */
export interface ExternalMount {
  /** Names it in the images. */
  key: string;
  /** Where it is mounted below the root, "/mnt/data"; the same in the tree and from outside. */
  insidePath: string;
}

/** What `criu dump` needs to know. */
export interface DumpArgumentOptions {
  /** Root of the process tree, as seen from CRIU. */
  pid: number;
  /** Mount point of the tree's root filesystem, as seen from CRIU. */
  rootDir: string;
  /** @defaultValue none */
  externalMounts?: readonly ExternalMount[];
  imagesDir: string;
  /** Takes the log and the statistics. */
  workDir: string;
  logName: string;
  /** Program that CRIU starts at each stage of the dump. */
  snapshotHookPath: string;
  /** Lets no connection's data pass while its two ends are looked at. @defaultValue false */
  locksConnections?: boolean;
  /** Control group in which the whole tree is frozen, and stays so. @defaultValue it runs */
  frozenIn?: string;
}

/** What `criu restore` needs to know. */
export interface RestoreArgumentOptions {
  rootDir: string;
  /** Mounted below `rootDir` already. */
  /** @defaultValue none */
  externalMounts?: readonly ExternalMount[];
  imagesDir: string;
  /** Takes the log and the statistics; each of several concurrent restores has its own. */
  workDir: string;
  logName: string;
  pidFile: string;
  /** Leaves every restored task stopped until it gets SIGCONT. @defaultValue false */
  leaveStopped?: boolean;
  /** Leaves memory to a pages server that listens in `workDir`. @defaultValue false */
  isLazy?: boolean;
  /** Program that CRIU starts at each stage of the restore. @defaultValue none */
  resumeHookPath?: string;
  /** Program that CRIU starts at each stage of the restore. @defaultValue none */
  parkHookPath?: string;
}

/** Returns the arguments of a dump after which the tree runs on. */
export function buildDumpArguments(options: DumpArgumentOptions): string[] {
  return [
    "dump",
    ...["--tree", String(options.pid)],
    ...commonArguments(options),
    ...(options.externalMounts ?? []).flatMap(({ key, insidePath }) => [
      "--external",
      `mnt[${insidePath}]:${key}`,
    ]),
    "--leave-running",
    ...["--action-script", options.snapshotHookPath],
    // A restore reads the method from the images.
    ...["--network-lock", options.locksConnections === true ? "nftables" : "skip"],
    ...["--timeout", String(FREEZE_TIMEOUT_S)],
    // CRIU lets nobody run before it holds all, and freezes the group again before it lets go.
    ...(options.frozenIn === undefined ? [] : ["--freeze-cgroup", options.frozenIn]),
  ];
}

/** Returns the arguments of a restore that ends as soon as the tree runs (or stands). */
export function buildRestoreArguments(options: RestoreArgumentOptions): string[] {
  return [
    "restore",
    ...commonArguments(options),
    ...(options.externalMounts ?? []).flatMap(({ key, insidePath }) => [
      "--external",
      `mnt[${key}]:${options.rootDir}${insidePath}`,
    ]),
    "--restore-detached",
    ...["--pidfile", options.pidFile],
    ...(options.leaveStopped === true ? ["--leave-stopped"] : []),
    ...(options.isLazy === true ? ["--lazy-pages"] : []),
    ...(options.resumeHookPath === undefined ? [] : ["--action-script", options.resumeHookPath]),
    ...(options.parkHookPath === undefined ? [] : ["--action-script", options.parkHookPath]),
  ];
}

function commonArguments(options: {
  rootDir: string;
  imagesDir: string;
  workDir: string;
  logName: string;
}): string[] {
  return [
    // The machine's own configuration of CRIU is for other users of CRIU.
    "--no-default-config",
    // CRIU loads plugins of whatever version lies in its library directory; ours has none.
    ...["--libdir", options.workDir],
    ...["--images-dir", options.imagesDir],
    ...["--work-dir", options.workDir],
    ...["--log-file", options.logName],
    // -v2 adds the warnings, without which a traced task cannot be told from one that ended. It
    // costs nothing measurable; -v4 writes 400 to 700 lines and costs 1 to 3 ms.
    "-v2",
    ...["--root", options.rootDir],
    "--ext-unix-sk",
    "--tcp-established",
    "--file-locks",
    "--link-remap",
    ...["--ghost-limit", GHOST_FILE_SIZE_MAX],
    "--manage-cgroups=ignore",
    // Below a session lies a base that may be updated: a library of the same size and another
    // content must fail the restore. "filesize" alone saves nothing measurable.
    ...["--file-validation", "buildid"],
  ];
}
