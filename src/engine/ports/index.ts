/**
 * ports owns what the engine needs of everything outside of it: the adapters, the catalog, its own parts.
 *
 * Types alone: src/engine/open-engine.ts builds what they name, a test may bring its own.
 */

export type { Automatic, CommandEnd } from "./automatic.ts";
export type { BackgroundVerifier } from "./background-verifier.ts";
export type { BaseChangesFinder, FoundBaseChanges } from "./base-changes-finder.ts";
export type { BrowseMounts, BrowseRequest } from "./browse-mounts.ts";
export type { ContactBook } from "./contact-book.ts";
export type { Engine, EngineSettings, MemoryBudget, TrackMemorySettings } from "./engine.ts";
export type { FileCalls, ReadingCalls } from "./file-calls.ts";
export type {
  ParkedInstance,
  StandbyPool,
  StandbySettings,
  StandbyStatus,
} from "./standby-pool.ts";
export type { StoryBuilder } from "./story-builder.ts";
export type { StreamClient } from "./stream-client.ts";
export type { TextSearch, TextTools } from "./text-tools.ts";
export type { WarmReserve, WarmStatus } from "./warm-reserve.ts";
