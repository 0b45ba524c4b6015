import type { ProcessFacts } from "../../../base/index.ts";
import { fromText, toBytes } from "../../../base/index.ts";
import type { ShellState } from "../../../linux/shells/index.ts";
import type { Changes } from "../../../shared/protocol/index.ts";
import type { Moment, ReadingEngine } from "../../moment/index.ts";
import { MomentFiles, type MomentPair } from "../../moment/index.ts";
import type { SessionStart } from "../../session/index.ts";
import { AnswerBudget } from "../answer-budget.ts";
import { readMemory, readPicture } from "../processes/process-picture.ts";
import { sessionShell } from "../processes/session-shell.ts";
import { type ChangesReader, notBelowAPath } from "../section.ts";
import { startOf } from "../start-of.ts";
import { compareNamed } from "./compare-named.ts";
import { summarizeShell } from "./summarize-shell.ts";

type ShellSection = "env" | "functions" | "cwd" | "virtualenv";

/** What a session's shell has at one moment. */
interface ShellView extends ShellState {
  cwd: string | null;
}

/** Set by every shell by itself, or told by another section. */
const LEFT_OUT = ["_", "PWD", "OLDPWD", "SHLVL"];
/** What activated Python environments set. */
const VIRTUALENV_VARIABLES = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/** What tells a startup file of Waypoint's own where and what to read, and is taken away by it at once. */
const OWN_VALUE = /=\/run\/waypoint\/|^WAYPOINT_STARTUP_FILES=/;
/** What an answer holds of variables and functions; files have most of a frame. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** A live shell goes on while it is read; then it is read again. */
const ATTEMPTS = 3;

/** Variables, functions, directory and Python environment of the session's shell. */
export const SHELL_READER: ChangesReader = {
  sections: ["env", "functions", "cwd", "virtualenv"],
  read: async (pair, { engine, scope }) => {
    if (scope.under !== null) return notBelowAPath(SHELL_READER);
    const after = await readShell(pair.to, engine);
    const before =
      pair.from.kind === "fresh"
        ? (after.started(await startOf(pair, engine)) ?? after.fresh(pair))
        : await readShell(pair.from, engine);
    return compare(before.view, after.view);
  },
  summarize: summarizeShell,
};

interface ReadShell {
  view: ShellView;
  /** What the same shell was at its first prompt; `null` where that was not noted of this one. */
  started: (start: SessionStart | null) => { view: ShellView } | null;
  /** What the same shell was given at its start. */
  fresh: (pair: MomentPair) => { view: ShellView };
}

/** @throws Error  there is no shell; the message says why. */
export async function readShell(moment: Moment, engine: ReadingEngine): Promise<ReadShell> {
  const picture = await readPicture(moment, engine);
  const shell = picture === null ? null : sessionShell(picture);
  if (shell === null) throw new Error("the session had no shell then");
  const state = await readState(moment, shell, engine);
  return {
    view: { ...state, cwd: shell.cwd },
    started: (start) => viewOf(start, shell),
    fresh: ({ from }) => ({
      view: {
        environment: new Map(
          shell.startEnvironment.filter((each) => !OWN_VALUE.test(each)).map(splitVariable),
        ),
        functions: new Map(),
        cwd: from.origin.cwd,
      },
    }),
  };
}

/** A shell that came after the first one, when that had ended, has read its start-up files anew. */
function viewOf(start: SessionStart | null, shell: ProcessFacts): { view: ShellView } | null {
  if (start === null) return null;
  const { pid, programId, cwd, environment, functions } = start.shell;
  if (pid !== shell.pid || programId !== shell.programId) return null;
  return { view: { cwd, environment: new Map(environment), functions: new Map(functions) } };
}

async function readState(moment: Moment, shell: ProcessFacts, engine: ReadingEngine) {
  for (let attempt = 1; ; attempt += 1) {
    const state = await readOnce(moment, shell, engine);
    const isWhole = state.environment instanceof Map;
    if (isWhole || moment.kind !== "live" || attempt === ATTEMPTS) return state;
  }
}

async function readOnce(
  moment: Moment,
  { pid, program }: ProcessFacts,
  engine: ReadingEngine,
): Promise<ShellState> {
  try {
    using files = new MomentFiles(moment);
    const file = program === null ? null : files.find(fromText(program.path));
    if (program === null || file?.type !== "file") throw new Error("the shell's program is gone");
    return await engine.shells.readShellMemory({
      programPath: program.path,
      filePath: toBytes(file.hostPath),
      address: program.address,
      memory: await readMemory(moment, pid, engine),
    });
  } catch (error) {
    const unknown = error instanceof Error ? error.message : String(error);
    return { environment: { unknown }, functions: { unknown } };
  }
}

/** Compares what is known of both; a part that one of them lacks is unknown. */
function compare(before: ShellView, after: ShellView): Partial<Changes> {
  const unknown: Partial<Record<ShellSection, string>> = {};
  const changes: Partial<Changes> = {};
  const room = new AnswerBudget(ANSWER_BYTES_MAX);
  const reason = (part: "environment" | "functions") =>
    [after[part], before[part]].flatMap((each) => ("unknown" in each ? [each.unknown] : []))[0];
  if (after.cwd === null || before.cwd === null) unknown.cwd = "the shell's directory is not known";
  else changes.cwd = { before: before.cwd, after: after.cwd };
  if (before.environment instanceof Map && after.environment instanceof Map) {
    const [earlier, later] = [before.environment, after.environment];
    changes.env = room.keep(compareNamed(earlier, later, LEFT_OUT), "variables");
    changes.virtualenv = { before: virtualenvOf(earlier), after: virtualenvOf(later) };
  } else {
    unknown.env = reason("environment") ?? "";
    unknown.virtualenv = unknown.env;
  }
  if (before.functions instanceof Map && after.functions instanceof Map) {
    changes.functions = room.keep(compareNamed(before.functions, after.functions), "functions");
  } else unknown.functions = reason("functions") ?? "";
  return { ...changes, unknown: { ...unknown, ...room.leftOut } };
}

function virtualenvOf(environment: ReadonlyMap<string, string>): string | null {
  for (const name of VIRTUALENV_VARIABLES) {
    const path = environment.get(name);
    if (path !== undefined && path !== "") return path;
  }
  return null;
}

function splitVariable(variable: string): [string, string] {
  const at = variable.indexOf("=");
  return at === -1 ? [variable, ""] : [variable.slice(0, at), variable.slice(at + 1)];
}
