import type { z } from "zod";
import type { ErrorCode } from "../errors/index.ts";

/**
 * One operation, with all that is said of it: the daemon checks with it; the command line, the SDK
 * and the documents take their words from it.
 *
 * The text of an input's field is its `.describe()`. A last `[bracket]` in it says what holds where
 * the field is not given. In its `.meta()`, `whenFalse` is the text of what a flag turns off, and
 * `whenNull` the word that is typed for null.
 */
export interface OperationContract<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> {
  /** In the imperative, without a full stop. */
  summary: string;
  /** What else there is to know, in whole sentences; true on every surface. */
  description?: string;
  /** Errors that it may end with besides those of every operation. */
  errors?: readonly ErrorCode[];
  /** Command lines that do it, each with what comes of it. */
  examples?: readonly (readonly [string, string])[];
  /** What it may change. */
  effect: "read" | "write" | "destroy";
  /** It also exchanges bytes while it runs (frames.ts); the result comes last. */
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
