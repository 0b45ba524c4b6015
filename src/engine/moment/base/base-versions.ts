import { z } from "zod";
import type { RawPath } from "../../../base/index.ts";
import { fileTypeSchema } from "../../../shared/protocol/index.ts";
import type { ReadingEngine } from "../reading-engine.ts";

/** Version of base-versions.json; one of another version is as none. */
const FORMAT = 1;

const storedSchema = z.object({
  format: z.literal(FORMAT),
  versions: z.array(
    z.object({
      path: z.string(),
      type: fileTypeSchema,
      mode: z.number(),
      uid: z.number(),
      gid: z.number(),
      sizeBytes: z.number(),
      digest: z.string(),
      textBase64: z.string().nullable(),
    }),
  ),
});

/**
 * What the base had at a path; the text only of small texts, of all else a digest, which is empty,
 * and so like that of no file, where the content was not read.
 */
export interface BaseVersion {
  type: z.infer<typeof fileTypeSchema>;
  mode: number;
  uid: number;
  gid: number;
  sizeBytes: number;
  content: { digest: string; text?: Buffer };
}

/** Keeps what the base had where a checkpoint was the first to change it. @throws STORE_FULL */
export async function writeBaseVersions(
  checkpointId: string,
  versions: ReadonlyMap<RawPath, BaseVersion>,
  { store }: ReadingEngine,
): Promise<void> {
  const stored = [...versions].map(([path, { content, ...facts }]) => ({
    ...{ path, ...facts, digest: content.digest },
    textBase64: content.text?.toString("base64") ?? null,
  }));
  await store.baseVersions.write(checkpointId, { format: FORMAT, versions: stored });
}

/** Returns what was kept with a checkpoint, by path. */
export async function readBaseVersions(
  checkpointId: string,
  { store }: ReadingEngine,
): Promise<Map<RawPath, BaseVersion>> {
  const stored = storedSchema.safeParse(await store.baseVersions.read(checkpointId));
  if (!stored.success) return new Map();
  return new Map(
    stored.data.versions.map(({ path, digest, textBase64, ...facts }) => [
      path,
      {
        ...facts,
        content:
          textBase64 === null ? { digest } : { digest, text: Buffer.from(textBase64, "base64") },
      },
    ]),
  );
}
