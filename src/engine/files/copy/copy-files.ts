import { type RawPath, toText } from "../../../base/index.ts";
import { resolveMoment } from "../../../portable/lineage/index.ts";
import type { SessionRow } from "../../../portable/model/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type {
  OperationOutput,
  OperationParsedInput,
  Place,
} from "../../../shared/protocol/index.ts";
import type { Engine, StreamClient } from "../../ports/index.ts";
import { requireLive } from "../../session/index.ts";
import { ChangedBase } from "../changed-base.ts";
import { type MomentPlace, OpenMoments } from "../open-moments.ts";
import { absolutePath, findEntry, givenPath } from "../place.ts";
import { CopyJob } from "./copy-job.ts";
import { copyChildren, copyNode } from "./copy-node.ts";
import { findOwner } from "./find-owner.ts";
import { type OpenDirectory, Root, requireDirectory, splitPath } from "./root.ts";
import { machineNode, momentNode, type SourceNode } from "./source-node.ts";

const ROOT_OWNER = { uid: 0, gid: 0 };
const THERE = "where it is to go";

/** Who asked, and what it takes to do it. */
interface CopyContext {
  client: StreamClient;
  engine: Engine;
  moments: OpenMoments;
}

/** One thing to copy, with the name that it has in a directory; "." for what is in it alone. */
interface Source {
  node: SourceNode;
  rawPath: RawPath;
  name: RawPath;
  isOfMachine: boolean;
  /** Of a moment alone. */
  changedBase?: ChangedBase;
}

/**
 * Returns the session that files are to be copied into; `null` for the client's machine.
 *
 * @throws FILE_REFUSED  a checkpoint never changes.
 */
export function copyTargetOf(to: Place, engine: Engine): SessionRow | null {
  if (to.moment === undefined) return null;
  const ref = resolveMoment(to.moment, engine.catalog);
  if ("session" in ref) return ref.session;
  throw new WaypointError("FILE_REFUSED", `Checkpoint ${ref.checkpoint.id} never changes.`, {
    hint: `Copy into a live session, for instance of \`waypoint fork ${ref.checkpoint.id}\`.`,
    detail: { checkpoint: ref.checkpoint.id },
  });
}

/**
 * Copies files and directories out of moments to the client's machine, or into a live session.
 *
 * As `cp -a`: a link is copied as a link, a directory that is there is merged with, what else is
 * there is replaced. Each file is replaced as a whole or not at all.
 *
 * **Requires** the lease of the session that is copied into.
 * **On failure** what was copied before stays.
 *
 * @param session  of {@link copyTargetOf}.
 * @throws FILE_NOT_FOUND | FILE_REFUSED | FILE_FAILED | STORE_FULL | SESSION_WRONG_STATE
 */
export async function copyFiles(
  input: OperationParsedInput<"cp">,
  session: SessionRow | null,
  client: StreamClient,
  engine: Engine,
): Promise<OperationOutput<"cp">> {
  if (session === null && input.from.some(({ moment }) => moment === undefined)) {
    throw new WaypointError("USAGE_INVALID", "Both sides are of this machine.", {
      hint: "Write a side of a checkpoint or session as NAME:PATH; `cp` copies on one machine.",
    });
  }
  await using moments = new OpenMoments(engine);
  const context = { client, engine, moments };
  using open = new DisposableStack();
  const pid = session === null ? client.pid : requireLive(session, engine).pid;
  const root = open.use(Root.of(pid, engine.fileCalls));
  const sources: Source[] = [];
  for (const place of input.from) sources.push(await openSource(place, open, context));
  const targetPath = await pathOfTarget(input.to, session, context);
  const into = root.directory(targetPath);
  if (into !== null) open.use(into);
  if (into === null && sources.length > 1) requireDirectory(root, targetPath, THERE);
  const rules = {
    owner: input.owner === undefined ? null : findOwner(input.owner, root),
    dropsPrivileges: session === null,
  };
  const target = into ?? open.use(requireParent(root, targetPath));
  const job = new CopyJob(target.fd, rules, {
    ...{ id: engine.newId(), signal: client.cancelled, calls: engine.fileCalls },
    whenCancelled: "what was copied before is whole",
  });
  for (const source of sources) {
    job.rules = source.isOfMachine ? { ...rules, owner: rules.owner ?? ROOT_OWNER } : rules;
    const name = into === null ? splitPath(targetPath).name : source.name;
    await copySource(source, { target, name }, job);
    source.changedBase?.tell(client);
  }
  return job.result;
}

async function copySource(
  { node, rawPath, name: ownName }: Source,
  { target, name }: { target: OpenDirectory; name: RawPath },
  job: CopyJob,
): Promise<void> {
  const directoryFd = target.fd;
  if (name === "." && ownName === ".") {
    return await copyChildren(node, rawPath, { directoryFd, relativePath: "" }, job);
  }
  await copyNode(node, rawPath, { directoryFd, name, relativePath: name }, job);
}

async function openSource(
  place: Place,
  open: DisposableStack,
  { client, engine, moments }: CopyContext,
): Promise<Source> {
  if (place.moment !== undefined) {
    const { moment, files } = await moments.open((place as MomentPlace).moment);
    const rawPath = await absolutePath(place, moment, engine);
    const found = findEntry(files, rawPath, moment, { followsLast: false });
    const { name } = splitPath(rawPath);
    const changedBase = new ChangedBase(moment);
    return {
      node: momentNode(files, found, changedBase),
      rawPath,
      name: nameIn(rawPath, name),
      isOfMachine: false,
      changedBase,
    };
  }
  const rawPath = requireAbsolute(givenPath(place));
  const { directory, name } = splitPath(rawPath);
  using root = Root.of(client.pid, engine.fileCalls);
  const parent = open.use(requireDirectory(root, directory, "on this machine"));
  const node = machineNode(parent.fd, name);
  return { node, rawPath, name: nameIn(rawPath, name), isOfMachine: true };
}

/** A directory that was named with a slash after it is copied under its name, as `cp` does. */
function nameIn(rawPath: RawPath, name: RawPath): RawPath {
  if (name !== "." || !rawPath.endsWith("/")) return name;
  const last = rawPath.replace(/\/+$/, "").split("/").at(-1) ?? "";
  return ["", ".", ".."].includes(last) ? "." : last;
}

async function pathOfTarget(
  to: Place,
  session: SessionRow | null,
  { engine, moments }: CopyContext,
): Promise<RawPath> {
  const given = givenPath(to);
  if (session === null || given.startsWith("/")) return requireAbsolute(given);
  return await absolutePath(to, (await moments.open(session.id)).moment, engine);
}

function requireParent(root: Root, rawPath: RawPath): OpenDirectory {
  const { directory, name } = splitPath(rawPath);
  if (name === ".") return requireDirectory(root, rawPath, THERE);
  return requireDirectory(root, directory, THERE);
}

function requireAbsolute(rawPath: RawPath): RawPath {
  if (rawPath.startsWith("/")) return rawPath;
  throw new WaypointError(
    "USAGE_INVALID",
    `${JSON.stringify(toText(rawPath))} is no absolute path of this machine.`,
    { hint: "The daemon has another working directory than you; give the whole path." },
  );
}
