import type { OptionSpec } from "./command-spec.ts";

/** What `--base-changes` is called and does, for every command that has it. */
export const BASE_CHANGES: OptionSpec = {
  flags: "--base-changes",
  description: "List what has changed since in the base, of which it holds no copy",
};
