import type { InitLink } from "../../linux/terminal/index.ts";
import type { StandbyPolicy } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";

/** What the daemon keeps on standby. */
export interface StandbySettings {
  /** For sessions that say nothing else. */
  policy: StandbyPolicy;
  /** Memory that all parked instances may use together. */
  budgetBytes: number;
  /** Memory that stays available on the machine; below it nothing is parked. */
  reserveBytes: number;
}

/** An instance that stands frozen at the instant of a checkpoint. */
export interface ParkedInstance extends Omit<LiveInstance, "sessionId" | "link"> {
  checkpointId: string;
  /** `made`: restored in advance. `left`: what a session left at a restore, as it was then. */
  origin: "made" | "left";
  /** Resolves when it runs; its init has been called already and answers then. */
  link: Promise<InitLink>;
  memoryBytes: number;
  parkedAtMs: number;
}

/** What is parked now. */
export interface StandbyStatus {
  count: number;
  memoryBytes: number;
  /** Why nothing is parked, where that is so for all sessions. */
  reason: string | null;
}

/** The parked instances of this daemon; src/engine/standby has the one there is. */
export interface StandbyPool {
  /** Takes one for use, if there is one; it belongs to the caller then. */
  take(checkpointId: string, origins: readonly ParkedInstance["origin"][]): ParkedInstance | null;
  /** Tells whether a checkpoint has one. */
  has(checkpointId: string): boolean;
  /** Keeps one that a restore has left. */
  add(parked: ParkedInstance): void;
  /** Looks soon at what should be parked, after something that may have changed it. */
  refresh(): void;
  status(): StandbyStatus;
  /** Ends everything that is parked; nothing is parked from then on. */
  close(): Promise<void>;
}
