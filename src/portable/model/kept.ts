import { z } from "zod";

/** A field that came later: a record of before has `null`. */
export const laterText = z.string().nullable().default(null);
export const laterNumber = z.number().nullable().default(null);

/** What a session may use at most; `null` where it has no limit, or the default of the store. */
export const limitsShape = {
  memoryLimitBytes: laterNumber,
  cpuLimit: laterNumber,
  pidsLimit: laterNumber,
  diskLimitBytes: laterNumber,
};
