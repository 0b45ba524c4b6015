import type { z } from "zod";

/**
 * One operation: `effect` says what it may change. `stream` operations also exchange bytes while
 * they run (frames.ts); their result comes last.
 */
export interface OperationContract<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> {
  summary: string;
  effect: "read" | "write" | "destroy";
  stream?: true;
  input: I;
  output: O;
}

/** Returns a contract with the types of its input and output kept. */
export function describe<I extends z.ZodType, O extends z.ZodType>(
  contract: OperationContract<I, O>,
) {
  return contract;
}
