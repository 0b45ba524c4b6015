import { knownStateDirs } from "../../base/index.ts";
import type { ExtraMounts, SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Bind } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

/** What to do about binds whose source is gone. */
export interface BindChoice {
  /** Go on with an empty directory in place of each; else nothing is begun. */
  withoutBinds: boolean;
  /** Let what is written to them stay in the instance. @defaultValue false: it is shared */
  copyBinds?: boolean;
}

/** Returns the host's mounts that a new session gets a copy of. */
export function chooseHostMounts(
  base: string,
  binds: readonly Bind[],
  { sandbox, settings }: Engine,
): string[] {
  if (base !== "/") return [];
  // CRIU tells mounts apart by their place, so nothing lies below a bind.
  return sandbox
    .findHostMounts(sandbox.findHidden(knownStateDirs(settings.layout.stateDir)))
    .filter((hostMount) => !binds.some(({ target }) => sandbox.isBelow(hostMount, target)));
}

/**
 * Mounts an instance's root filesystem and everything that is mounted in it.
 *
 * **On failure** what was mounted stays until {@link Engine.sandbox.unmountRoot}.
 *
 * @throws SANDBOX_FAILED | BIND_SOURCE_MISSING | BIND_INVALID
 */
export function mountFiles(
  session: Pick<SessionRow, "base" | keyof ExtraMounts>,
  instanceId: string,
  choice: BindChoice,
  engine: Engine,
): string {
  const { sandbox, store } = engine;
  findMissingBinds(session.binds, choice, engine);
  requireNoStateBound(session.binds, engine);
  const paths = store.instancePaths(instanceId);
  const baseDir = store.bases.directoryOf(session.base);
  const rootDir = sandbox.mountRoot({ instanceId, baseDir, ...paths });
  for (const [number, hostMount] of session.hostMounts.entries()) {
    sandbox.mountHostCopy(rootDir, hostMount, store.mountPaths(instanceId, number));
  }
  for (const [number, bind] of session.binds.entries()) {
    const isCopied = choice.copyBinds === true && !bind.readOnly && sandbox.isBindPresent(bind);
    const layersNumber = session.hostMounts.length + number;
    if (isCopied)
      sandbox.mountBindCopy(rootDir, bind, store.makeMountLayers(instanceId, layersNumber));
    else sandbox.mountBind(rootDir, bind);
  }
  return rootDir;
}

/** What was checked when the session was made may have changed since. @throws BIND_INVALID */
function requireNoStateBound(binds: readonly Bind[], { sandbox, settings }: Engine): void {
  if (binds.length === 0) return;
  const hidden = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
  for (const { source } of binds) sandbox.requireNoState(source, hidden);
}

/** Returns what CRIU is to leave alone; none for most sessions, whose dumps it costs nothing. */
export function externalMounts({ binds, hostMounts }: ExtraMounts) {
  return [
    ...hostMounts.map((insidePath, number) => ({ key: `host${number}`, insidePath })),
    ...binds.map(({ target }, number) => ({ key: `bind${number}`, insidePath: target })),
  ];
}

/**
 * Returns the binds whose source is gone, for a caller who goes on without them.
 *
 * @throws BIND_SOURCE_MISSING  there are some, and the caller did not choose that.
 */
export function findMissingBinds(
  binds: readonly Bind[],
  { withoutBinds }: BindChoice,
  { sandbox }: Engine,
): Bind[] {
  const missing = binds.filter((bind) => !sandbox.isBindPresent(bind));
  const [first] = missing;
  if (first === undefined || withoutBinds) return missing;
  throw new WaypointError(
    "BIND_SOURCE_MISSING",
    `The directory ${first.source} of the host, bound on ${first.target}, is gone.`,
    {
      hint: "Make it again, or go on with an empty directory in its place with --without-binds.",
      detail: { missing },
    },
  );
}

/**
 * Checks that a restore can bring back what the session's processes see of its binds: CRIU cannot
 * bind a directory that was removed while it was bound.
 *
 * @throws CRIU_DUMP_FAILED
 */
export function requireRestorableBinds(
  { binds }: ExtraMounts,
  initHostPid: number,
  { sandbox }: Engine,
): void {
  const removed = binds.find((bind) => sandbox.isBindRemoved(bind, initHostPid));
  if (removed === undefined) return;
  throw new WaypointError(
    "CRIU_DUMP_FAILED",
    `The directory ${removed.source}, bound on ${removed.target}, was removed on the host.`,
    {
      hint: "`--files-only` captures the files; a restore binds what is there then.",
      detail: { reason: "bind_removed", resource: `bind ${removed.target}` },
    },
  );
}
