import path from "node:path";
import { NATIVE_NAMES, type NativeName } from "../../../scripts/setup/native-names.mjs";

/** Returns where the set-up puts a native program. */
export function nativePath(packageRoot: string, name: NativeName): string {
  return path.join(packageRoot, ".tools/native", name);
}

/** Returns where the set-up puts each of the native programs. */
export function nativePaths(packageRoot: string): string[] {
  return NATIVE_NAMES.map((name) => nativePath(packageRoot, name));
}
