import type { BaseShell, ShellDialect } from "../../linux/sandbox/index.ts";
import type { InitLink } from "../../linux/terminal/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

const PATH_DEFAULT = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** How each shell is made to read Waypoint's startup file (src/linux/terminal/shell-files.ts). */
const STARTUPS: Record<ShellDialect, { argv: string[]; env: Record<string, string> }> = {
  bash: { argv: ["--rcfile", "/run/waypoint/bashrc"], env: {} },
  // Init knows by this variable, too, that it starts a POSIX shell (posix-startup.ts).
  posix: { argv: [], env: { ENV: "/run/waypoint/shrc" } },
  zsh: { argv: [], env: { ZDOTDIR: "/run/waypoint/zsh" } },
  fish: { argv: ["--init-command", "source /run/waypoint/keys.fish"], env: {} },
};

/** `off` keeps the shell from reading its user's own start-up files; read by those of Waypoint, and by fish. */
const STARTUP_FILES = "WAYPOINT_STARTUP_FILES";

const shellsByBase = new Map<string, BaseShell>();

/**
 * Returns the shell that a session was started with.
 *
 * Looked for once for each base: every command asks, and the answer takes 20 system calls.
 *
 * @throws BASE_INVALID  as `checkBase` does.
 */
export function sessionShell(
  session: Pick<SessionRow, "base" | "shell">,
  engine: Engine,
): BaseShell {
  const key = `${session.base}\0${session.shell ?? ""}`;
  const known = shellsByBase.get(key) ?? findShell(session, engine);
  shellsByBase.set(key, known);
  return known;
}

/** Looks for the shell of a session, or of one that is about to be. @throws BASE_INVALID */
export function findShell(
  { base, shell }: Pick<SessionRow, "base" | "shell">,
  { sandbox, store }: Pick<Engine, "sandbox" | "store">,
): BaseShell {
  return sandbox.checkBase(store.bases.directoryOf(base), shell);
}

/** How a session's first shell is started. */
export interface ShellOptions {
  env: Record<string, string>;
  columns: number;
  rows: number;
}

/** Opens the main terminal of a new session with its shell and returns the terminal's id. */
export async function openShell(
  link: InitLink,
  session: SessionRow,
  options: ShellOptions,
  engine: Engine,
): Promise<number> {
  const { sandbox, settings, store } = engine;
  const { shellPath, dialect } = findShell(session, engine);
  const user = sandbox.findUser(store.bases.directoryOf(session.base), session.user);
  const startup = STARTUPS[dialect];
  const env = {
    ...shellEnvironment(user, shellPath),
    ...startup.env,
    ...(settings.startupFiles === "off" ? { [STARTUP_FILES]: "off" } : {}),
    ...options.env,
  };
  const own = dialect === "fish" && env[STARTUP_FILES] === "off" ? ["--no-config"] : [];
  const argv = [shellPath, ...startup.argv, ...own, "-i"];
  try {
    return await link.openTerminal({
      argv,
      env,
      cwd: session.cwd,
      uid: user.uid,
      gid: user.gid,
      groups: user.groups,
      cols: options.columns,
      rows: options.rows,
    });
  } catch (cause) {
    throw new WaypointError("SANDBOX_FAILED", `The shell could not be started in ${session.cwd}.`, {
      hint: "Check that the directory exists in the session and that the user may enter it.",
      cause,
    });
  }
}

/** Checks that a root filesystem has a directory, and returns it. @throws USAGE_INVALID */
export function requireDirectory(rootDir: string, insidePath: string, engine: Engine): string {
  if (engine.sandbox.isDirectoryInside(rootDir, insidePath)) return insidePath;
  throw new WaypointError("USAGE_INVALID", `The session has no directory "${insidePath}".`, {
    hint: "Give an absolute path of a directory inside the session.",
  });
}

/** Returns the environment that every program of a session starts with. */
export function shellEnvironment(
  user: { name: string; home: string },
  shellPath: string,
): Record<string, string> {
  return {
    HOME: user.home,
    LANG: "C.UTF-8",
    LOGNAME: user.name,
    PATH: PATH_DEFAULT,
    SHELL: shellPath,
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    USER: user.name,
  };
}
