import { knownStateDirs, Rollback } from "../../base/index.ts";
import type { Hidden } from "../../linux/sandbox/index.ts";
import { policyOf } from "../../portable/approvals/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Bind, OperationParsedInput, Session } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { adoptInstance } from "./adopt-instance.ts";
import { automaticOf } from "./automatic-of.ts";
import { type ChosenBase, chooseBase, isOfHost } from "./choose-base.ts";
import { describeSession } from "./describe-session.ts";
import { chooseHostMounts } from "./extra-mounts.ts";
import { buildFreshInstance, removeInstance } from "./instance.ts";
import { makeUpName, requireValidName } from "./names.ts";
import { requireUsableLimits } from "./session-limits.ts";
import { noteStart } from "./session-start.ts";
import { requireDirectory } from "./shell.ts";
import { verifyCommandOf } from "./verify-command.ts";
import { waitForPrompt } from "./wait-for-prompt.ts";

/**
 * Starts a session with a fresh shell.
 *
 * **On success** it is in the catalog and its shell runs.
 * **On failure** nothing of it is left.
 *
 * @throws NAME_INVALID | NAME_IN_USE | BASE_INVALID | BIND_INVALID | USAGE_INVALID | SANDBOX_FAILED
 * | STORE_FULL
 * @throws HOST_UNSUPPORTED  a limit was asked for that this machine cannot set.
 */
export async function createSession(
  input: OperationParsedInput<"new">,
  engine: Engine,
): Promise<Session> {
  const { catalog, sandbox, settings } = engine;
  const pidsLimit = input.pids === undefined ? settings.pidsDefault : input.pids;
  const { memoryBytes: memoryLimitBytes = null, cpus: cpuLimit = null } = input;
  using _entering = engine.limits.prepareToEnter({ memoryLimitBytes, cpuLimit, pidsLimit });
  using chosen = chooseBase(input.base, engine);
  const { base, directory } = chosen;
  const name = claimName(input.name, engine);
  requireUsableLimits(input, engine.store);
  const hidden = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
  if (!chosen.isKept) sandbox.requireOutsideState(directory, hidden);
  const { shellPath } = sandbox.checkBase(directory, input.shell ?? null, {
    withLibraries: true,
  });
  const user = sandbox.findUser(directory, input.user);
  const binds = sandbox.checkBinds(input.binds, { baseDir: directory, hidden });
  const hostMounts = chooseHostMounts(base, binds, engine);
  const id = engine.newId();
  const session: SessionRow = {
    id,
    name,
    state: "running",
    base,
    ...netOf(input.net),
    user: user.name,
    cwd: startDirectory(input, { ...chosen, binds, hidden, hostMounts, user }, engine),
    binds,
    hostMounts,
    createdAt: new Date().toISOString(),
    head: null,
    forkedFrom: null,
    instance: `${id}-1`,
    instanceCount: 1,
    shell: shellPath,
    memoryLimitBytes,
    cpuLimit,
    pidsLimit,
    diskLimitBytes: input.diskBytes ?? null,
    standby: input.standby ?? null,
    approval: approvalOf(input.approve),
    agentState: null,
    ...verifyCommandOf(null),
    ...automaticOf(input.auto ?? null),
  };
  return await engine.leases.run(`name:${name}`, async () => {
    requireFreeName(name, engine);
    const { env, columns, rows } = input;
    const shell = { env, columns, rows, filesFrom: null, withoutBinds: false };
    await using rollback = new Rollback();
    const live = await buildFreshInstance(session, `${id}-1`, shell, engine);
    rollback.defer("remove the new instance", () => removeInstance(live.instanceId, engine));
    catalog.transaction(() => {
      catalog.insertSession(session);
      catalog.operations.insert({
        session: id,
        kind: "new",
        checkpoint: null,
        undo: null,
        at: session.createdAt,
        readyMs: null,
        stateBefore: null,
      });
    });
    rollback.keep();
    const unusedAt = live.link.actionCount;
    adoptInstance(live, engine);
    await waitForPrompt(live, { isFirst: true });
    await noteStart(live, unusedAt, engine);
    return describeSession(session, engine);
  });
}

/** What decides where a session's first shell starts. */
interface StartPlace extends Pick<ChosenBase, "base" | "directory"> {
  binds: readonly Bind[];
  hidden: Hidden;
  hostMounts: readonly string[];
  user: { uid: number; home: string };
}

/** Users like `nobody` have a home that does not exist; they start in the root directory. */
function startDirectory(
  { cwd, cwdIfThere }: OperationParsedInput<"new">,
  place: StartPlace,
  engine: Engine,
): string {
  if (cwd === undefined && cwdIfThere !== undefined && isThere(cwdIfThere, place, engine)) {
    return cwdIfThere;
  }
  const { sandbox } = engine;
  const { directory: baseDir, user } = place;
  const start = cwd ?? user.home;
  const { rootDir, insidePath } = placeBeforeMounting(place, start, engine);
  if (sandbox.isDirectoryInside(rootDir, insidePath)) return start;
  if (sandbox.isMadeWhereMissing(baseDir, start)) return start;
  return cwd === undefined ? "/" : requireDirectory(baseDir, cwd, engine);
}

/** Tells whether a session has a directory of the host at the same place, for root to enter. */
function isThere(wanted: string, place: StartPlace, engine: Engine): boolean {
  const { base, hidden, hostMounts, user } = place;
  if (user.uid !== 0 || !isOfHost(base, engine)) return false;
  const { rootDir, insidePath } = placeBeforeMounting(place, wanted, engine);
  if (rootDir !== "/") return engine.sandbox.isDirectoryInside(rootDir, insidePath);
  return engine.sandbox.isShownInSession(wanted, hidden, hostMounts);
}

/** Returns where a directory of the session is while its binds are not mounted yet. */
function placeBeforeMounting(
  { directory, binds }: Pick<StartPlace, "directory" | "binds">,
  insidePath: string,
  { sandbox }: Engine,
): { rootDir: string; insidePath: string } {
  const bind = binds.find(({ target }) => sandbox.isBelow(insidePath, target));
  if (bind === undefined) return { rootDir: directory, insidePath };
  return { rootDir: bind.source, insidePath: `/${insidePath.slice(bind.target.length)}` };
}

/** Returns a valid, free name: the wanted one, or one made up. @throws NAME_INVALID | NAME_IN_USE */
export function claimName(wanted: string | undefined, engine: Engine): string {
  if (wanted === undefined) return makeUpName((name) => !isFreeToMakeUp(name, engine));
  requireValidName(wanted);
  requireFreeName(wanted, engine);
  // Nobody waits behind a restore that may take its whole time.
  if (!engine.leases.isBusy(`name:${wanted}`)) return wanted;
  throw new WaypointError("NAME_IN_USE", `A session named ${wanted} is just being made.`, {
    hint: "Choose another name, or wait until that has come to its end.",
  });
}

/** @throws NAME_IN_USE */
export function requireFreeName(name: string, engine: Engine): void {
  if (!isTaken(name, engine)) return;
  throw new WaypointError("NAME_IN_USE", `There is a session named ${name} already.`, {
    hint: `Choose another name, or remove it with \`waypoint rm ${name}\`.`,
  });
}

/** A name that nobody asked for must not collide with one that is just being given either. */
export function isFreeToMakeUp(name: string, engine: Engine): boolean {
  return !isTaken(name, engine) && !engine.leases.isBusy(`name:${name}`);
}

function isTaken(name: string, { catalog }: Engine): boolean {
  return catalog.sessionByName(name) !== undefined || catalog.session(name) !== undefined;
}

/** A list of what may be reached is reached through the host. */
function netOf(net: OperationParsedInput<"new">["net"]): Pick<SessionRow, "net" | "netAllow"> {
  if (net === "nat" || net === "none" || net === "host") return { net, netAllow: null };
  return { net: "nat", netAllow: net };
}

/** @throws USAGE_INVALID  it is no policy. */
function approvalOf(policy: string | undefined): string | null {
  if (policy !== undefined) policyOf(policy);
  return policy ?? null;
}
