/**
 * Types of the modules of scripts/setup that host shares.
 *
 * Those are plain JavaScript because they run under an older Node, before there is a build.
 */
declare module "*/scripts/setup/machine-checks.mjs" {
  interface MachineCheck {
    id: string;
    ok: boolean;
    detail: string;
    fix: string | null;
  }

  /** Ids of the checks that are a matter of rights. */
  export const PRIVILEGE_CHECKS: ReadonlySet<string>;
  export function checkMachine(): MachineCheck[];
  export function checkTools(): MachineCheck;
}

declare module "*/scripts/setup/criu-record.mjs" {
  /** What the set-up recorded about the CRIU to use. */
  export type CriuRecord = {
    version: string;
    /** Release of the kernel on which `criu check` passed. */
    kernelRelease: string;
  } & ({ origin: "system"; program: string } | { origin: "private"; prefix: string });

  export function readCriuRecord(packageRoot: string): CriuRecord | null;
  export function criuArgv(record: CriuRecord, options?: { preloadPath?: string }): string[];
}

declare module "*/scripts/setup/native-names.mjs" {
  /** What native/build.sh makes. */
  export type NativeName =
    | "waypoint-init"
    | "snapshot-hook"
    | "resume-hook"
    | "park-hook"
    | "criu-enter"
    | "image-copy"
    | "image-sums"
    | "waypoint-pages"
    | "attach-mount"
    | "share-tree"
    | "warm-memory"
    | "memory-tracker"
    | "image-assemble"
    | "link-maker"
    | "criu-preload.so";
  export const NATIVE_NAMES: readonly NativeName[];
}
