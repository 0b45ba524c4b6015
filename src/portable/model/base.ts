import { z } from "zod";

/** What is noted beside a kept base; a damaged note tells less, and the base can be used all the same. */
export const baseRecordSchema = z.object({
  /** The directory or archive that it was copied from; `/` is the machine's own root. */
  from: z.string(),
  createdAt: z.string(),
  /** What its files take, before btrfs shares any. */
  sizeBytes: z.number().int().nonnegative(),
});
export type BaseRecord = z.infer<typeof baseRecordSchema>;
