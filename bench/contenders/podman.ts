import { setTimeout as delay } from "node:timers/promises";
import { type Contender, timed } from "../measuring/contender.ts";
import type { Gaps } from "../programs/program.ts";
import type { PodmanWorld } from "../worlds/podman-world.ts";
import { TICK_NOTED_MS } from "./waypoint.ts";

/** `podman container checkpoint --leave-running`, then a restore in place to the first answer. */
export function podmanCheckpoint(world: PodmanWorld, container: string, gaps: Gaps): Contender {
  const checkpoint = ["container", "checkpoint"];
  return {
    name: "podman",
    run: async () => {
      await gaps.reset();
      const captured = await timed(() =>
        world.podman([...checkpoint, "--leave-running", container]),
      );
      await delay(TICK_NOTED_MS);
      const pause = await gaps.longest();
      // Podman restores into the container itself, which has to be stopped.
      await world.podman([...checkpoint, container]);
      const restored = await timed(async () => {
        await world.podman(["container", "restore", container]);
        await world.podman(["exec", container, "true"]);
      });
      return { pause, checkpoint: captured.tookMs, restore: restored.tookMs };
    },
  };
}

/** `podman commit`: the files alone, as an image. */
export function podmanCommit(world: PodmanWorld, container: string, change: () => void): Contender {
  return {
    name: "podman commit",
    run: async () => {
      change();
      const { value: image, tookMs } = await timed(() =>
        world.podman(["commit", "--quiet", container]),
      );
      await world.podman(["rmi", "--force", image]);
      return { save: tookMs };
    },
  };
}
