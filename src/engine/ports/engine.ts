import type { Logger, SerialQueues, StateLayout } from "../../base/index.ts";
import type * as criu from "../../linux/criu/index.ts";
import type { Freezer, LimitsHost } from "../../linux/limits/index.ts";
import type { NetworkHost, PortForwards } from "../../linux/network/index.ts";
import type * as sandbox from "../../linux/sandbox/index.ts";
import type * as shells from "../../linux/shells/index.ts";
import type { Store } from "../../linux/store/index.ts";
import type { findTerminals, InitLink, ScreenModel } from "../../linux/terminal/index.ts";
import type { AgentStates } from "../../portable/agent-state/index.ts";
import type { ApprovalLog } from "../../portable/approvals/index.ts";
import type { Catalog } from "../../portable/catalog/index.ts";
import type { DecisionLog } from "../../portable/decisions/index.ts";
import type { EffectJournal } from "../../portable/effects/index.ts";
import type {
  ApprovalWaits,
  CommandJournal,
  LiveSessions,
  StoryQueue,
  Turns,
  Typing,
  VerificationRuns,
} from "../live/index.ts";
import type { Automatic } from "./automatic.ts";
import type { BackgroundVerifier } from "./background-verifier.ts";
import type { BaseChangesFinder } from "./base-changes-finder.ts";
import type { BrowseMounts } from "./browse-mounts.ts";
import type { ContactBook } from "./contact-book.ts";
import type { FileCalls } from "./file-calls.ts";
import type { StandbyPool, StandbySettings } from "./standby-pool.ts";
import type { StoryBuilder } from "./story-builder.ts";
import type { TextTools } from "./text-tools.ts";
import type { WarmReserve } from "./warm-reserve.ts";

/** Facts about this daemon and its machine that operations need. */
export interface EngineSettings {
  layout: StateLayout;
  criu: criu.CriuProgram;
  criuVersion: string;
  kernel: string;
  arch: string;
  initBinaryPath: string;
  snapshotHookPath: string;
  pagesServerPath: string;
  assembleProgramPath: string;
  /** Checkpoints with less memory are restored at once. */
  lazyBytesMin: number;
  /** Following what sessions write, so that a checkpoint copies no more; `null`: none is followed. */
  trackMemory: TrackMemorySettings | null;
  resumeHookPath: string;
  parkHookPath: string;
  mountProgramPath: string;
  hostNamespacePath: string | null;
  /** What the shells of a session read at their start, by path below /run/waypoint. */
  shellFiles: Readonly<Record<string, string>>;
  /** Whether they read the user's own start-up files, too. */
  startupFiles: "on" | "off";
  /** Content for a session's /etc/resolv.conf, for one with a network of its own. */
  resolvConf: string | null;
  standby: StandbySettings;
  /** When sessions are captured by themselves that say nothing else. */
  autoDefault: string;
  /** Processes that a session may have that says nothing else; `null` where nothing can limit them. */
  pidsDefault: number | null;
}

/** How the writes of sessions are followed. */
export interface TrackMemorySettings {
  trackerProgramPath: string;
  assembleProgramPath: string;
  /** Neither sessions nor processes with less memory are followed. */
  bytesMin: number;
  /** The memory of sessions that have less is not copied before their first pause. */
  aheadBytesMin: number;
  /** Copies all memory a second time in each pause, and compares: for tests. */
  compares: boolean;
}

/** The memory that images of durable checkpoints hold beside their copy in the store. */
export interface MemoryBudget {
  /** Gives back what is over the bound, what nobody has used for a while, and all where it is short. */
  trim(): Promise<void>;
  /** Gives back as much as images of a size need, if that is enough. */
  makeRoom(expectedBytes: number): Promise<void>;
  close(): Promise<void>;
}

/** Everything the engine works with; made once, in the composition root. */
export interface Engine {
  settings: EngineSettings;
  catalog: Catalog;
  /** What agents have beside their machines. */
  agentStates: AgentStates;
  /** Steps that a person has to approve. */
  approvals: ApprovalLog;
  /** Who waits for them now. */
  approvalWaits: ApprovalWaits;
  /** What was decided in sessions, and why. */
  decisions: DecisionLog;
  /** What agents did outside. Opened when it is first needed. */
  effects: EffectJournal;
  /** Whom sessions talk to. */
  contacts: ContactBook;
  /** Returns what an agent or a person said as it may be kept: without its secrets. */
  redact: (text: string) => string;
  /** The same of a value of JSON. */
  redactValue: (value: unknown) => unknown;
  store: Store;
  network: NetworkHost;
  forwards: PortForwards;
  limits: LimitsHost;
  /** Returns how much memory programs may take now. */
  availableMemoryBytes: () => number;
  /** `null` where nothing can be frozen: then there is no standby. */
  freezer: Freezer | null;
  memoryImages: MemoryBudget;
  /** What the next images are written into. */
  warmMemory: WarmReserve;
  sandbox: typeof sandbox;
  criu: typeof criu;
  shells: Pick<typeof shells, "readShellMemory">;
  textTools: TextTools;
  fileCalls: FileCalls;
  connectInit: typeof InitLink.connect;
  findTerminals: typeof findTerminals;
  createScreen: (columns: number, rows: number) => ScreenModel;
  live: LiveSessions;
  /** Who types at attached terminals. */
  typing: Typing;
  /** Checkpoints that nobody has to ask for. */
  automatic: Automatic;
  /** What is run in sessions, for the stories of checkpoints. */
  journal: CommandJournal;
  /** Live instances, by id, whose memory is still on its way: how it ends. */
  filling: Map<string, Promise<criu.PagesState>>;
  standbys: StandbyPool;
  /** Moments that are mounted for users. */
  browses: BrowseMounts;
  /** What of live bases has changed since checkpoints. */
  baseChanges: BaseChangesFinder;
  /**
   * One queue per session: operations that change it run one after the other. After each of them it is
   * looked what should be on standby now: a head may have moved, or what is wanted.
   */
  leases: SerialQueues;
  /** Asked by what nobody waits for before it goes on: who holds a lease comes first. */
  turns: Turns;
  /** Work that goes on after an answer: flushing, cleaning. */
  background: SerialQueues;
  /** Stories of checkpoints that are still to be built. */
  stories: StoryQueue;
  /** Builds one of them, within bounds of time and memory. */
  storyBuilder: StoryBuilder;
  /** Commands that are being run against checkpoints. */
  verifications: VerificationRuns;
  /** Those that nobody has asked for one by one. */
  verifier: BackgroundVerifier;
  logger: Logger;
  newId: () => string;
}
