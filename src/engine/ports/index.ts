/**
 * ports owns what the engine needs of everything outside of it: the adapters, the catalog, its own parts.
 *
 * Types alone: src/engine/open-engine.ts builds what they name, a test may bring its own.
 */

export type { Engine, EngineSettings, MemoryBudget } from "./engine.ts";
