import { fdPath, type RawPath, toBytes } from "../../base/index.ts";
import type { FileCalls } from "../ports/index.ts";
import { type Identity, identityOf, type StagedChange } from "./change.ts";
import { nameOf, parentOf, statusOf, type Target } from "./target.ts";
import { versionOf } from "./version.ts";

/** The two names of a change: its own, and that of what was made for it. */
export interface Names {
  own: { directoryFd: number; name: Buffer };
  staged: { directoryFd: number; name: Buffer };
  ownPlace: RawPath;
  stagedPlace: RawPath;
  calls: FileCalls;
}

/** Opens the directories of both names, until `open` is disposed of; `null` where one is gone. */
export function namesOf(
  { path, stage }: Pick<StagedChange, "path" | "stage">,
  target: Target,
  open: DisposableStack,
): Names | null {
  const parent = target.findDirectory(parentOf(path));
  if (parent !== null) open.use(parent);
  const beside = target.findDirectory(stage.directory);
  if (beside !== null) open.use(beside);
  if (parent === null || beside === null) return null;
  return {
    own: { directoryFd: parent.fd, name: toBytes(nameOf(path)) },
    staged: { directoryFd: beside.fd, name: toBytes(stage.name) },
    ownPlace: `${fdPath(parent.fd)}/${nameOf(path)}`,
    stagedPlace: `${fdPath(beside.fd)}/${stage.name}`,
    calls: target.calls,
  };
}

/** Returns what tells what is there from others; `null` for nothing. */
export function identityAt(place: RawPath): Identity | null {
  const status = statusOf(place);
  return status === null ? null : identityOf(status, versionOf(status, place));
}
