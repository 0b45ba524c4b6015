import { createReadStream, mkdirSync } from "node:fs";
import { chmod, copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fromText, type RawPath, toBytes } from "../../../base/index.ts";
import { linkTargetOf, parentOf, type Target, type Version } from "../../changes/index.ts";
import type { Engine, StreamClient } from "../../ports/index.ts";
import type { Plan, Step } from "../plan.ts";

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
  { scratchDir, client, engine }: { scratchDir: string; client: StreamClient; engine: Engine },
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
  await engine.textTools.writePatch(scratchDir, patchPath);
  for await (const chunk of createReadStream(patchPath)) {
    client.cancelled.throwIfAborted();
    await client.send("stdout", chunk as Buffer);
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
