import { WaypointError } from "../../shared/errors/index.ts";

/**
 * Does the same for each of several names; one that fails does not keep the others from it. A name
 * that is given twice is one.
 *
 * **On failure** the error has the code of the first failure, and names all of them.
 * An answer of no, or a signal, ends it: the names after that are not tried.
 */
export async function tryEach(
  names: readonly string[],
  act: (name: string) => Promise<unknown>,
): Promise<void> {
  const failures: { name: string; error: WaypointError }[] = [];
  for (const name of new Set(names)) {
    try {
      await act(name);
    } catch (error) {
      if (!(error instanceof WaypointError)) throw error;
      failures.push({ name, error });
      if (error.code === "CANCELLED") break;
    }
  }
  const [first, ...others] = failures;
  if (first === undefined) return;
  if (others.length === 0) throw first.error;
  const { code, hint } = first.error;
  const message = failures.map(({ name, error }) => `${name}: ${error.message}`).join(" ");
  throw new WaypointError(code, message, {
    ...(hint === null ? {} : { hint }),
    detail: { failures: failures.map(({ name, error }) => ({ name, error: error.toJSON() })) },
  });
}
