import { withoutUndefined } from "../session-options.ts";

/** Which parts of a checkpoint to put back, as they were typed. */
export interface PartsOptions {
  only?: "files" | "processes";
  path?: string[];
  except?: string[];
}

/** Returns the part of the operation's input that says what to put back. */
export function partsInput({ only, path, except }: PartsOptions) {
  return withoutUndefined({ only, paths: path, except });
}

/** Adds one path to those given before. */
export function collectPath(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), text];
}
