import { createHash } from "node:crypto";

/** What an effect is done with: a value of JSON. */
export type JsonInput =
  | null
  | boolean
  | number
  | string
  | readonly JsonInput[]
  | { readonly [key: string]: JsonInput | undefined };

/** Returns what names an input: the same for equal ones, in whatever order their keys stand. */
export function hashInput(input: JsonInput | undefined): string {
  return createHash("sha256")
    .update(canonical(input ?? null))
    .digest("base64url");
}

function canonical(value: JsonInput): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each ?? null)).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each as JsonInput)}`).join(",")}}`;
}
