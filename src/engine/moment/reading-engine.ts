import type { Engine, EngineSettings, ReadingCalls } from "../ports/index.ts";

/** What the process that builds stories is told when it starts, beside the state directory. */
export type ReadingSettings = Pick<EngineSettings, "resolvConf" | "initBinaryPath">;

/** What reading a story needs of the engine; the process that builds stories has no more. */
export type ReadingEngine = Pick<
  Engine,
  | ("catalog" | "store" | "criu" | "shells" | "sandbox" | "textTools" | "live")
  | ("findTerminals" | "createScreen" | "logger" | "newId")
> & {
  fileCalls: ReadingCalls;
  settings: Pick<EngineSettings, "layout" | "shellFiles" | keyof ReadingSettings>;
};
