import { WaypointError } from "../../../shared/errors/index.ts";
import type { LinkableSession } from "./linkable-session.ts";

/** When a step of the graph has a checkpoint of the machine taken. */
export type LinkPolicy = "every-step" | "tools" | "changed";

/** How a graph and a session are linked. */
export interface LinkOptions<S extends LinkableSession = LinkableSession> {
  /**
   * `every-step`: at each step. `tools`: at each step in which tools have run. `changed`: at each step
   * since whose predecessor something has run or changed in the machine. A step without one of its own
   * has that of the step before. @defaultValue every-step
   */
  policy?: LinkPolicy;
  /** Nodes that count as tools; so does each that writes a message of a tool. @defaultValue tools */
  toolNodes?: readonly string[];
  /**
   * What happens when the graph goes back to an earlier checkpoint: the session goes back, too, or a
   * new session starts from there and the other one stays. @defaultValue restore
   */
  move?: "restore" | "fork";
  /**
   * What a second thread on the same session gets: `GRAPH_CONFLICT`, or a session of its own, forked
   * from what is there then. @defaultValue error
   */
  onConflict?: "error" | "fork";
  /**
   * What happens when the machine's checkpoint was removed: `GRAPH_MACHINE_GONE`, or the graph goes on
   * with the machine as it is. @defaultValue error
   */
  onMissing?: "error" | "keep";
  /** Finds a forked session again, such as `(id) => waypoint.session(id)`; needed for `fork`. */
  open?: (id: string) => Promise<S>;
  /** What goes back: the machine with its agent's state, or the machine alone. @defaultValue all */
  only?: "machine";
  /** A step waits until its checkpoint is in the store, which on a disk survives power loss. */
  durable?: boolean;
}

/** Options with what holds where nothing was chosen. */
export type ChosenOptions<S extends LinkableSession> = Required<
  Omit<LinkOptions<S>, "open" | "only">
> &
  Pick<LinkOptions<S>, "open" | "only">;

const CHOICES = {
  policy: ["every-step", "tools", "changed"],
  move: ["restore", "fork"],
  onConflict: ["error", "fork"],
  onMissing: ["error", "keep"],
} as const;

/** Fills in what was not chosen. @throws USAGE_INVALID */
export function chooseOptions<S extends LinkableSession>(
  options: LinkOptions<S>,
): ChosenOptions<S> {
  const chosen = {
    ...({ policy: "every-step", toolNodes: ["tools"], move: "restore" } as const),
    ...({ onConflict: "error", onMissing: "error", durable: false } as const),
    ...options,
  };
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = chosen[name as keyof typeof CHOICES];
    if ((choices as readonly string[]).includes(value)) continue;
    throw new WaypointError("USAGE_INVALID", `linkSession knows no ${name} "${value}".`, {
      hint: `It is one of ${choices.join(", ")}.`,
    });
  }
  const isForking = chosen.move === "fork" || chosen.onConflict === "fork";
  if (isForking && chosen.open === undefined) {
    throw new WaypointError(
      "USAGE_INVALID",
      "A graph that forks sessions has to find them again.",
      {
        hint: "Give linkSession { open: (id) => waypoint.session(id) }.",
      },
    );
  }
  return chosen;
}
