import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Logger, SerialQueues, type StateLayout, startProgram } from "../base/index.ts";
import * as criu from "../linux/criu/index.ts";
import {
  availableMemoryBytes,
  findCriu,
  type NativeName,
  nativePath,
} from "../linux/host/index.ts";
import * as kernel from "../linux/kernel/index.ts";
import { Freezer, LimitsHost } from "../linux/limits/index.ts";
import { NetworkHost, PortForwards } from "../linux/network/index.ts";
import * as sandbox from "../linux/sandbox/index.ts";
import * as shells from "../linux/shells/index.ts";
import { openStore, type StoreLimits, WarmMemory, warmRoomBytes } from "../linux/store/index.ts";
import { findTerminals, InitLink, ScreenModel, SHELL_FILES } from "../linux/terminal/index.ts";
import * as textTools from "../linux/text-tools/index.ts";
import { AgentStates, redactorOf } from "../portable/agent-state/index.ts";
import { SqliteApprovals } from "../portable/approvals/sqlite/index.ts";
import { namesNothing, SqliteCatalog } from "../portable/catalog/sqlite/index.ts";
import { SqliteContacts } from "../portable/contacts/sqlite/index.ts";
import { SqliteDecisions } from "../portable/decisions/sqlite/index.ts";
import { LazyEffects } from "../portable/effects/index.ts";
import { SqliteEffects } from "../portable/effects/sqlite/index.ts";
import { SqliteObjects } from "../portable/objects/sqlite/index.ts";
import { ID_LENGTH } from "../shared/protocol/index.ts";
import { AutomaticCheckpoints } from "./automatic/index.ts";
import { MemoryImages, MemoryReserve, trackMemoryOf } from "./checkpoint/index.ts";
import { ContactCounts } from "./contacts/index.ts";
import { Browses } from "./files/index.ts";
import {
  ApprovalWaits,
  CommandJournal,
  LiveSessions,
  StoryQueue,
  Turns,
  Typing,
  VerificationRuns,
} from "./live/index.ts";
import { BaseChanges, type ReadingSettings } from "./moment/index.ts";
import type { Engine, StandbySettings, TrackMemorySettings } from "./ports/index.ts";
import { recover } from "./recovery/index.ts";
import { settleInterrupted } from "./restore/index.ts";
import { Standbys } from "./standby/index.ts";
import { STORY_SCRATCH_START, StoryProcess } from "./story/index.ts";
import { AutomaticVerifier } from "./verify/index.ts";

/** Below it a restore that brings all memory at once answers as soon (docs/performance.md). */
const LAZY_BYTES_MIN_DEFAULT = 64 * 1024 ** 2;

/** As many forks at once find a network that is ready. */
const SPARE_NETWORKS = 8;

const ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

/** What the composition root is told; it reads no environment itself. */
export interface EngineOptions {
  layout: StateLayout;
  packageRoot: string;
  limits: StoreLimits;
  /** Memory from which a checkpoint is restored lazily; `Infinity` for never. */
  lazyBytesMin?: number;
  trackMemory?: Pick<TrackMemorySettings, "bytesMin" | "aheadBytesMin" | "compares"> | undefined;
  standby: StandbySettings;
  /** When sessions are captured by themselves that say nothing else. */
  autoDefault: string;
  /** Processes that a session may have that says nothing else; `null` for any number. */
  pidsDefault: number | null;
  /** Whether shells read the start-up files of their user. @defaultValue on */
  startupFiles?: "on" | "off";
  /** The program that builds stories (src/engine/story-program.ts), with its interpreter. */
  storyProgram: readonly [string, ...string[]];
  /** The machine's own mount namespace; `null` if it is not known. */
  hostNamespacePath: string | null;
  /** Forms of secrets that are taken out of what agents hand over. @defaultValue the known ones */
  redact?: readonly RegExp[];
  logger: Logger;
}

/**
 * Opens the engine on a state directory: the one place where adapters are made and joined.
 *
 * **Requires** the daemon's own mount namespace and the directory's lock.
 * **On success** every session that lives is connected to.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { layout, packageRoot, logger } = options;
  const native = programsOf(packageRoot);
  const store = await openStore(layout, {
    memoryBytes: os.totalmem(),
    programs: native,
    limits: options.limits,
    mayMake: namesNothing(layout.catalogPath),
  });
  const catalog = SqliteCatalog.open(
    layout.catalogPath,
    (id, row) => {
      try {
        store.sessions.write(id, row);
      } catch (error) {
        // The catalog has the row; its copy in the store must not make a full store unusable.
        logger.error("session not written to the store", error, { id });
      }
    },
    { copyDir: "/run/waypoint/catalog", mayMake: store.health.now().state === "writable" },
  );
  const { preloadPath, initBinaryPath, snapshotHookPath, resumeHookPath } = native;
  const { parkHookPath, pagesServerPath, assembleProgramPath } = native;
  const criuProgram = criu.loadCriu(await findCriu({ packageRoot, preloadPath }));
  const network = await NetworkHost.open({
    ownerKey: layout.key,
    netnsDir: "/run/netns",
    makerPath: nativePath(options.packageRoot, "link-maker"),
    sparesMax: SPARE_NETWORKS,
  });
  const storySettings: ReadingSettings = { resolvConf: network.resolvConf, initBinaryPath };
  const limitsHost = LimitsHost.open({ ownerKey: layout.key });
  const pidsOnly = { memoryLimitBytes: null, cpuLimit: null, pidsLimit: options.pidsDefault };
  const redact = redactorOf(options.redact);
  // What is put off holds its images in memory.
  const turns = new Turns(() => !store.images.isMemorySpare() || isHalfFull(store.images.usage()));
  const engine: Engine = {
    settings: {
      layout,
      criu: criuProgram,
      criuVersion: criuProgram.version,
      kernel: os.release(),
      arch: os.arch(),
      initBinaryPath,
      snapshotHookPath,
      ...{ pagesServerPath, assembleProgramPath },
      lazyBytesMin: options.lazyBytesMin ?? LAZY_BYTES_MIN_DEFAULT,
      trackMemory: await trackMemoryOf(options.trackMemory, native, { criu, logger }),
      ...{ resumeHookPath, parkHookPath, mountProgramPath: native.mountProgramPath },
      hostNamespacePath: options.hostNamespacePath,
      ...{ shellFiles: SHELL_FILES, startupFiles: options.startupFiles ?? "on" },
      resolvConf: network.resolvConf,
      standby: options.standby,
      autoDefault: options.autoDefault,
      pidsDefault: (await limitsHost.canHold(pidsOnly)) ? options.pidsDefault : null,
    },
    catalog,
    agentStates: new AgentStates(
      () => SqliteObjects.open(fileForAgents(layout, "objects.sqlite")),
      redact,
    ),
    approvals: new SqliteApprovals(() => fileForAgents(layout, "approvals.sqlite")),
    approvalWaits: new ApprovalWaits(),
    decisions: new SqliteDecisions({
      isThere: () => existsSync(path.join(layout.agentDir, "decisions.sqlite")),
      path: () => fileForAgents(layout, "decisions.sqlite"),
    }),
    effects: new LazyEffects({
      isThere: () => existsSync(path.join(layout.agentDir, "effects.sqlite")),
      open: () => SqliteEffects.open(fileForAgents(layout, "effects.sqlite")),
    }),
    get contacts() {
      return contacts;
    },
    redact: (text) => String(redact(text)),
    redactValue: (value) => redact(value as Parameters<typeof redact>[0]),
    store,
    network,
    forwards: new PortForwards(),
    limits: limitsHost,
    availableMemoryBytes,
    freezer: Freezer.open({ ownerKey: layout.key }),
    get memoryImages() {
      return memoryImages;
    },
    get warmMemory() {
      return warmMemory;
    },
    sandbox,
    criu,
    shells,
    textTools,
    fileCalls: kernel,
    connectInit: InitLink.connect,
    findTerminals,
    createScreen: (columns, rows) => new ScreenModel(columns, rows),
    live: new LiveSessions(),
    typing: new Typing(),
    get automatic() {
      return automatic;
    },
    journal: new CommandJournal(catalog.commands, logger),
    filling: new Map(),
    get standbys() {
      return standbys;
    },
    get baseChanges() {
      return baseChanges;
    },
    get browses() {
      return browses;
    },
    leases: new SerialQueues(
      () => {
        turns.end();
        standbys.refresh();
        verifier.look();
      },
      () => turns.begin(),
    ),
    turns,
    background: new SerialQueues(),
    stories: new StoryQueue(),
    storyBuilder: new StoryProcess({
      start: () => startProgram([...options.storyProgram, JSON.stringify(storySettings)]),
      logger,
      clearAway: () => store.snapshots.removeScratch(STORY_SCRATCH_START),
    }),
    verifications: new VerificationRuns({
      reserveBytes: options.standby.reserveBytes,
      availableBytes: availableMemoryBytes,
    }),
    get verifier() {
      return verifier;
    },
    logger,
    newId,
  };
  const contacts = new ContactCounts(
    engine,
    new SqliteContacts({
      isThere: () => existsSync(path.join(layout.agentDir, "contacts.sqlite")),
      path: () => fileForAgents(layout, "contacts.sqlite"),
    }),
  );
  const standbys = new Standbys(engine);
  const browses = new Browses(engine);
  const baseChanges = new BaseChanges(engine);
  const memoryImages = new MemoryImages(engine);
  const warmMemory = new MemoryReserve(
    engine,
    Object.assign(warmMemoryOf(native.warmProgramPath, engine), { roomBytes: warmRoomBytes }),
  );
  const automatic = new AutomaticCheckpoints(engine);
  const verifier = new AutomaticVerifier(engine);
  await criu.warmUp(criuProgram);
  await recover(engine);
  await settleInterrupted(engine).catch((error: unknown) =>
    // A store that cannot be written must not keep a daemon from starting: only it can end sessions.
    logger.error("settle what was interrupted", error),
  );
  verifier.look();
  return engine;
}

/** Tells whether sessions live whose files are in the store of a state directory. */
export function hasSessionsLeft({ storeDir }: StateLayout): boolean {
  return sandbox.findInitsBelow(storeDir).length > 0;
}

/** Where the set-up puts our own native programs. */
function programsOf(packageRoot: string) {
  const at = (name: NativeName) => nativePath(packageRoot, name);
  return {
    initBinaryPath: at("waypoint-init"),
    snapshotHookPath: at("snapshot-hook"),
    copyProgramPath: at("image-copy"),
    sumsProgramPath: at("image-sums"),
    pagesServerPath: at("waypoint-pages"),
    resumeHookPath: at("resume-hook"),
    mountProgramPath: at("attach-mount"),
    shareProgramPath: at("share-tree"),
    warmProgramPath: at("warm-memory"),
    trackerProgramPath: at("memory-tracker"),
    assembleProgramPath: at("image-assemble"),
    parkHookPath: at("park-hook"),
    preloadPath: at("criu-preload.so"),
  };
}

function isHalfFull({ usedBytes, budgetBytes }: { usedBytes: number; budgetBytes: number }) {
  return usedBytes > budgetBytes / 2;
}

/** Returns what holds memory for images: at most as much as these may take. */
function warmMemoryOf(programPath: string, { store, logger }: Engine): WarmMemory {
  return new WarmMemory(
    () => [programPath, String(store.images.usage().budgetBytes)],
    (how) => logger.warn("warm memory is no longer held", { how }),
  );
}

/** Returns the path of a file beside the catalog, in a directory that nobody else reads. */
function fileForAgents({ agentDir }: StateLayout, name: string): string {
  mkdirSync(agentDir, { recursive: true, mode: 0o700 });
  return path.join(agentDir, name);
}

/** 10 characters without those that are easily confused. */
function newId(): string {
  return Array.from(randomBytes(ID_LENGTH), (byte) => ID_ALPHABET[byte % 32]).join("");
}
