import { knownStateDirs } from "../../base/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import type { Engine, EngineSettings } from "../ports/index.ts";
import { findShell } from "./shell.ts";

/** Fills the empty layers of a session that is about to be started from its base. */
export function fillLayers(
  session: Pick<SessionRow, "name" | "base" | "net" | "shell" | "hostMounts">,
  layers: { upperDir: string; mountPaths: (number: number) => { upperDir: string } },
  engine: Pick<Engine, "sandbox" | "store"> & {
    settings: Pick<EngineSettings, "layout" | "resolvConf" | "initBinaryPath" | "shellFiles">;
  },
): void {
  const { settings, sandbox, store } = engine;
  const hidden = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
  sandbox.prepareUpper({
    upperDir: layers.upperDir,
    baseDir: store.bases.directoryOf(session.base),
    hidden,
    hostname: session.name,
    resolvConf: session.net === "host" ? null : settings.resolvConf,
    initBinaryPath: settings.initBinaryPath,
    shellFiles: settings.shellFiles,
    shellPath: findShell(session, engine).shellPath,
  });
  for (const [number, hostMount] of session.hostMounts.entries()) {
    const { upperDir } = layers.mountPaths(number);
    sandbox.prepareMountUpper({ upperDir, baseDir: hostMount, hidden });
  }
}
