/**
 * host owns what this machine can do: the doctor's checks and the CRIU to use.
 * It installs nothing itself; scripts/setup does, because that runs before there is a build.
 * docs/setup.md explains each check.
 */

export type { NativeName } from "../../../scripts/setup/native-names.mjs";
export { availableMemoryBytes } from "./available-memory.ts";
export { type CheckHostOptions, checkHost } from "./check-host.ts";
export { type CriuProgram, type FindCriuOptions, findCriu } from "./find-criu.ts";
export type { HostCheck } from "./host-check.ts";
export { nativePath } from "./native-programs.ts";
export { readPidsDefault } from "./pids-default.ts";
export { requireHost } from "./require-host.ts";
