import { closeSync, constants, openSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { fdPath, joinRaw, type RawPath, toBytes } from "../../../base/index.ts";
import type { MomentFiles } from "../../moment/index.ts";
import type { ChangedBase } from "../changed-base.ts";
import type { FoundEntry } from "../place.ts";

/** Something to be copied, of a moment or of the client's machine. */
export interface SourceNode {
  /** Where the daemon finds it, without following it: to be looked at and opened at once. */
  hostPath: RawPath;
  /** Opens it as a directory, which it is. */
  open: () => Promise<SourceDirectory>;
}

/** What is in a directory that is being copied; nodes are good until it is disposed of. */
export interface SourceDirectory extends Disposable {
  names: readonly RawPath[];
  /** Returns `null` for what no moment holds. */
  child: (name: RawPath) => SourceNode | null;
}

/** Returns something that was found at a moment; `changedBase` is shown all of it. */
export function momentNode(
  files: MomentFiles,
  { rawPath, entry }: FoundEntry,
  changedBase: ChangedBase,
): SourceNode {
  changedBase.look(rawPath, entry);
  return {
    hostPath: entry.hostPath,
    open: async () => {
      const found = files.directory(rawPath);
      return {
        names: found === null ? [] : found.tree.names(found.directory),
        child: (name) => {
          const childPath = joinRaw(rawPath, name);
          const inTree = found?.tree.child(found.directory, name) ?? null;
          // A directory may be the place where the tree of another mount begins.
          const child = inTree?.directory == null ? inTree : files.find(childPath);
          if (child === null) return null;
          return momentNode(files, { rawPath: childPath, entry: child }, changedBase);
        },
        [Symbol.dispose]: () => {},
      };
    },
  };
}

/** Returns a name in an open directory of the client's machine. */
export function machineNode(directoryFd: number, name: RawPath): SourceNode {
  const hostPath = `${fdPath(directoryFd)}/${name}`;
  return {
    hostPath,
    open: async () => {
      const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
      const fd = openSync(toBytes(hostPath), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        return {
          names: await readdir(`${fdPath(fd)}/.`, "latin1"),
          child: (childName) => machineNode(fd, childName),
          [Symbol.dispose]: () => closeSync(fd),
        };
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    },
  };
}
