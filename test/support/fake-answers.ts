import path from "node:path";
import type { Step } from "./fake-engine.ts";
import type { Answers, FakeSteps } from "./fake-steps.ts";

/** Answers by the names that the ports have: one that went is an error here. */
type Known = Partial<Record<Step, unknown>>;

/** Parts that nobody asks anything of but what returns nothing. */
const NOTHING = () => {};

/**
 * Returns what the fakes of an engine answer where a test says nothing else: a machine on which all
 * goes well, sessions are small, and nothing is kept on standby.
 *
 * What an adapter does in the background is `async` here, too, so that it rejects where it fails.
 */
export function answersOfFakes(steps: Pick<FakeSteps<string>, "note">): Answers {
  const handedOut = (what: string, more: object = {}) => ({
    ...more,
    [Symbol.dispose]: () => steps.note(`${what} is over`),
    [Symbol.asyncDispose]: async () => steps.note(`${what} is over`),
  });
  return {
    ...ofStore(handedOut),
    ...ofTrees(steps),
    ...ofMachine(handedOut),
    ...ofEngine(),
    ...ofLink("link"),
    ...ofLink("newLink"),
  };
}

type HandOut = (what: string, more?: object) => object;

function ofStore(handedOut: HandOut): Known {
  return {
    "store.checkpointPaths": checkpointPaths,
    "store.instancePaths": (id: string) => ({
      subvolumePath: `/instances/${id}`,
      upperDir: `/instances/${id}/upper`,
      workDir: `/instances/${id}/work`,
    }),
    "store.createInstance": async (id: string) => ({ upperDir: `/instances/${id}/upper` }),
    "store.createInstanceFrom": async () => ({}),
    "store.takeOwnFiles": async () => {},
    "store.prepareCheckpoint": async (id: string) => checkpointPaths(id).memoryImagesDir,
    "store.shareCaptures": async () => {},
    "store.deleteCheckpoint": async () => {},
    "store.removeManifest": async () => {},
    "store.writeManifest": async () => {},
    "store.makeDurable": async () => {},
    "store.filesOfCheckpoint": () => 1n,
    "store.filesOfInstance": async () => 1n,
    "store.hasChangedFiles": async () => false,
    "store.filesState": () => ({ transaction: 1n, changedAtMs: 0 }),
    "store.filesStateOf": () => ({ transaction: 1n, changedAtMs: 0 }),
    "store.listInstances": () => [],
    "store.listCheckpoints": async () => [],
    "store.images.hold": ({ memoryImagesDir }: ReturnType<typeof checkpointPaths>) =>
      handedOut("store.images.hold", { imagesDir: memoryImagesDir }),
    "store.images.sum": async () => "sums",
    "store.images.requireUndamaged": async () => {},
    "store.images.requireSound": async () => {},
    "store.images.prepareInStore": async ({ imagesDir }: ReturnType<typeof checkpointPaths>) =>
      imagesDir,
    "store.images.isInStore": () => true,
    "store.images.hasRoomFor": () => true,
    "store.images.isMemorySpare": () => true,
    "store.images.usage": () => ({ usedBytes: 0, budgetBytes: 1024 ** 3 }),
    "store.images.held": async () => [],
    "store.space.flushIfDirty": async () => {},
    "store.space.requireRoom": async () => {},
    "store.shares.requireShare": NOTHING,
    "store.snapshots.release": async () => {},
    "store.snapshots.exists": () => true,
    "store.snapshots.ofInstance": () =>
      handedOut("store.snapshots.ofInstance", { subvolumePath: "/scratch" }),
    "store.sessions.write": NOTHING,
    "store.bases.directoryOf": (base: string) => base,
    "store.bases.defaultName": () => null,
    "store.bases.hold": () => handedOut("store.bases.hold"),
    "store.bases.sweep": NOTHING,
    "store.bases.all": () => [],
    "store.bases.has": () => false,
  };
}

/** Process trees begin, are found by their root filesystem, and end. */
function ofTrees(steps: Pick<FakeSteps<string>, "note">): Known {
  const instances = new Map<number, string>();
  let pid = 100;
  const begin = (instancePath: string) => {
    pid += 1;
    instances.set(pid, path.basename(instancePath));
    steps.note(`tree ${pid} runs`);
    return pid;
  };
  return {
    "criu.restore": async ({ workDir }: { workDir: string }) => ({ pid: begin(workDir) }),
    "sandbox.launchInit": async ({ mergedDir }: { mergedDir: string }) => begin(mergedDir),
    "sandbox.startTicks": () => 7,
    "sandbox.killTree": async (ended: number) => void instances.delete(ended),
    "sandbox.findInitsByUpper": (upperDir: string) =>
      [...instances].flatMap(([each, id]) => (upperDir.split("/").includes(id) ? [each] : [])),
  };
}

function ofMachine(handedOut: HandOut): Known {
  return {
    "criu.dump": async ({ onCaptured }: { onCaptured?: () => void }) => {
      onCaptured?.();
      return { pauseMs: 5, memoryBytes: 4096 };
    },
    "criu.readImageSockets": async () => [],
    "criu.readLockedFiles": async () => [],
    "criu.hasAlarm": async () => false,
    "criu.measureMemory": async () => ({ totalBytes: 4096, largestBytes: 4096 }),
    "criu.awaitPagesServer": async () => ({ kind: "whole" }),
    "criu.pagesState": () => null,
    "criu.startPagesServer": async () => {},
    "criu.endPagesServer": async () => {},
    "sandbox.treeMemoryBytes": () => 4096,
    "sandbox.treeActivity": () => null,
    "sandbox.treeFingerprint": () => ({ processes: "", ranTicks: 0 }),
    "sandbox.mergedDir": (id: string) => `/roots/${id}`,
    "sandbox.mountRoot": ({ instanceId }: { instanceId: string }) => `/roots/${instanceId}`,
    "sandbox.findInitsBelow": () => [],
    "sandbox.findHidden": () => [],
    "sandbox.listProcesses": () => [],
    "sandbox.listOpenFiles": () => [],
    "sandbox.findHostMounts": () => [],
    "sandbox.checkBinds": (binds: readonly object[]) => binds,
    "sandbox.isDirectoryInside": () => true,
    "sandbox.readLiveTasks": async () => [],
    "sandbox.isBindPresent": () => true,
    "sandbox.isBindRemoved": () => false,
    "sandbox.checkBase": () => ({ shellPath: "/bin/bash", dialect: "bash" }),
    "sandbox.findUser": () => ({ name: "root", home: "/root", uid: 0, gid: 0, groups: [] }),
    "limits.prepareToEnter": () => handedOut("limits.prepareToEnter"),
    "limits.liftCpu": () => handedOut("limits.liftCpu"),
    "limits.create": () => ["/groups/tasks"],
    "limits.hits": () => null,
    "limits.remove": async () => {},
    "sandbox.findInitSocket": () => "/nowhere/init.sock",
    "freezer.freeze": async () => true,
    "freezer.holds": () => true,
    "freezer.hasAll": () => true,
    "freezer.isFrozen": () => true,
    "freezer.enlist": () => true,
    "freezer.makeFrozen": (id: string) => `/groups/${id}/cgroup.procs`,
    "freezer.groupDir": (id: string) => `/groups/${id}`,
    "freezer.remove": async () => {},
    "network.netnsPath": (id: string) => `/run/netns/${id}`,
    "network.create": async () => ({ netnsPath: "/run/netns/new", address: "10.0.0.2" }),
    "network.createNamespace": async () => ({ netnsPath: "/run/netns/new", address: "10.0.0.2" }),
    "network.connect": async () => ({ netnsPath: "/run/netns/new", address: "10.0.0.2" }),
    "network.takeSpare": async () => null,
    "network.planSockets": () => null,
    "network.planSocketsOnHost": () => null,
    "network.prepareOnHost": async () => null,
    "network.release": async () => {},
    "network.releaseOnHost": async () => {},
    "network.remove": async () => {},
  };
}

function ofEngine(): Known {
  return {
    "memoryImages.makeRoom": async () => {},
    "memoryImages.trim": async () => {},
    "standbys.take": () => null,
    "standbys.has": () => false,
    "browses.of": () => [],
    "verifications.cancel": async () => {},
    "stories.cancel": async () => {},
    "stories.whileNotRead": (_ids: unknown, work: () => Promise<unknown>) => work(),
  };
}

function ofLink(name: string): Answers {
  return {
    [`${name}.ended`]: new Promise(NOTHING),
    [`${name}.requestCount`]: 0,
    [`${name}.quiesce`]: async () => {},
    [`${name}.resume`]: async () => {},
    [`${name}.openTerminal`]: async () => 1,
    [`${name}.list`]: async () => ({ terminals: [], commands: [] }),
  };
}

function checkpointPaths(id: string) {
  return {
    checkpointDir: `/checkpoints/${id}`,
    snapshotPath: `/checkpoints/${id}/files`,
    imagesDir: `/checkpoints/${id}/images`,
    memoryImagesDir: `/memory/${id}`,
    sumsPath: `/checkpoints/${id}/images.sums`,
    manifestPath: `/checkpoints/${id}/manifest.json`,
  };
}
