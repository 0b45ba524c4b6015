import { ERROR_REGISTRY } from "../../../shared/errors/index.ts";

/** The exit code of a dry run: what would be refused ends as the refusal would. */
export function refusedExitCode({ refused }: { refused: string | null }): number | undefined {
  return refused === null ? undefined : ERROR_REGISTRY.FILE_REFUSED.exitCode;
}
