import type { ErrorCode } from "../../src/shared/errors/index.ts";

/** Codes that no source throws yet, each with the reason why the registry has it already. */
export const NOT_THROWN: Partial<Record<ErrorCode, string>> = {};

/** Codes that no test reaches, each with the reason. */
export const NOT_REACHED: Partial<Record<ErrorCode, string>> = {
  INTERNAL: "a defect of ours; src/shared/errors/unknown-error.test.ts makes one of any error",
};
