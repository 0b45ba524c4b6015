import { runProcess } from "../../base/index.ts";
import { failed, type HostCheck, passed } from "./host-check.ts";
import { nativePath } from "./native-programs.ts";

const ID = "nft-library";
const PROBE_TIMEOUT_MS = 10_000;
/** No rule at all: the answer tells whether the library is there. */
const NO_RULES = "nft must 0 -\nend\n";

/** Has the program that makes links load the library of nft, which nothing replaces (native/link-maker). */
export async function checkNftLibrary(packageRoot: string): Promise<HostCheck> {
  try {
    const program = nativePath(packageRoot, "link-maker");
    const { stdout } = await runProcess([program], {
      timeoutMs: PROBE_TIMEOUT_MS,
      input: NO_RULES,
    });
    return describeNftLibrary(stdout.trim());
  } catch {
    // It is not built: another check says so.
    return describeNftLibrary(null);
  }
}

/** Returns the check for what the program answers; `null` where it could not be asked. */
export function describeNftLibrary(answer: string | null): HostCheck {
  const [, library] = /^failed nft: (\S+) cannot be loaded$/.exec(answer ?? "") ?? [];
  if (library !== undefined) {
    const detail = `${library} cannot be loaded, so no session gets a network of its own with a link`;
    return failed(ID, detail, "apt-get install libnftables1");
  }
  // Whether this user may set rules is a matter of rights, which other checks tell.
  return passed(ID, answer === null ? "could not be tried" : "it can be loaded (tried)");
}
