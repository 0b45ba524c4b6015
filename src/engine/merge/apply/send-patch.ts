import { createReadStream, mkdirSync } from "node:fs";
import { chmod, copyFile, mkdir, open, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fromText, type RawPath, runProcess, toBytes } from "../../../base/index.ts";
import { hasCode, WaypointError } from "../../../shared/errors/index.ts";
import type { StreamPeer } from "../../ports/index.ts";
import type { Plan, Step } from "../plan.ts";
import { parentOf, type Target } from "../target.ts";
import { linkTargetOf, type Version } from "../version.ts";

const TIMEOUT_MS = 600_000;
const EXECUTABLE = 0o100;

/**
 * Sends what a plan would change as a patch that `git apply` takes, binary files too.
 *
 * git itself compares the two sides, which are laid out below `scratchDir`.
 *
 * @throws TOOL_FAILED  this machine has no git.
 */
export async function sendPatch(
  { steps }: Plan,
  target: Target,
  scratchDir: string,
  peer: StreamPeer,
): Promise<void> {
  const sides = {
    a: fromText(path.join(scratchDir, "a")),
    b: fromText(path.join(scratchDir, "b")),
  };
  for (const side of Object.values(sides)) mkdirSync(toBytes(side), { recursive: true });
  for (const step of steps) {
    if (step.kind === "mkdir") continue;
    await target.look(step.path, async ({ version }) => {
      if (step.identity !== null && version !== null) await layOut(sides.a, step, version, null);
      if (step.after === null) return;
      const content =
        step.kind === "attributes" && version !== null ? version.content : step.after.content;
      await layOut(sides.b, step, { ...step.after, content }, step.merged);
    });
  }
  const patchPath = path.join(scratchDir, "patch");
  await compare(scratchDir, patchPath);
  for await (const chunk of createReadStream(patchPath)) {
    peer.cancelled.throwIfAborted();
    await peer.send("stdout", chunk as Buffer);
  }
}

/**
 * Without prefixes of its own git names a side that is missing after the other one. Lines of content
 * begin with a space, a plus or a minus, so that none is taken for a header.
 */
const BOTH_SIDES = [
  "s|^diff --git [ab]/(.*) [ab]/\\1$|diff --git a/\\1 b/\\1|",
  's|^diff --git "[ab]/(.*)" "[ab]/\\1"$|diff --git "a/\\1" "b/\\1"|',
].join(";");

async function compare(scratchDir: string, patchPath: string): Promise<void> {
  await using out = await open(patchPath, "wx", 0o600);
  const diff =
    "git -c core.quotepath=true diff --no-index --no-prefix --binary --full-index --no-renames a b";
  const line = `${diff} > raw; [ $? -le 1 ] && exec sed -E '${BOTH_SIDES}' raw >&3`;
  try {
    await runProcess(["sh", "-c", line], {
      ...{ cwd: scratchDir, descriptors: [out.fd], timeoutMs: TIMEOUT_MS },
      env: {
        ...{ PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
        ...{ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_DIR: "/dev/null/none" },
      },
    });
  } catch (cause) {
    if (!hasCode(cause, "TOOL_FAILED")) throw cause;
    throw new WaypointError("TOOL_FAILED", "git could not write the patch.", {
      hint: "Install git on this machine; without --patch none is needed.",
      cause,
    });
  }
}

/** git knows files, links and whether one may be executed; nothing else of it is in a patch. */
async function layOut(
  side: RawPath,
  { path: targetPath }: Step,
  { type, mode, content }: Version,
  merged: Buffer | null,
): Promise<void> {
  if ((type !== "file" && type !== "symlink") || !("hostPath" in content)) return;
  await mkdir(toBytes(`${side}/${parentOf(targetPath)}`), { recursive: true });
  const place = toBytes(`${side}/${targetPath}`);
  if (type === "symlink") {
    return await symlink(toBytes(linkTargetOf(content.hostPath)) as unknown as string, place);
  }
  if (merged === null) await copyFile(toBytes(content.hostPath), place);
  else await writeFile(place, merged);
  await chmod(place, (mode & EXECUTABLE) === 0 ? 0o644 : 0o755);
}
