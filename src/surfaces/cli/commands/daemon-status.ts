import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { formatAge, formatSize } from "../text/quantities.ts";
import { layoutFields } from "../text/table.ts";

/** Shows the daemon's state; does not start it, because then it would always run. */
export async function run({ context }: Invocation): Promise<undefined> {
  const status = await call(context, "daemon.status", {}, { start: false });
  await printResult(context, status, (shown) => renderStatus(shown, context.nowMs));
}

function renderStatus(status: OperationOutput<"daemon.status">, nowMs: number): string[] {
  return layoutFields([
    ["Version", status.version],
    ["Process", `${status.pid}, running for ${formatAge(status.startedAt, nowMs)}`],
    [
      "State directory",
      status.isStateInMemory
        ? `${status.stateDir}, in memory: nothing there survives the machine's end`
        : status.stateDir,
    ],
    ["Sessions running", String(status.sessionsRunning)],
    ["Memory", formatSize(status.memoryBytes)],
    [
      "Images in memory",
      `${formatSize(status.imagesUsedBytes)} of ${formatSize(status.imagesBudgetBytes)}`,
    ],
    [
      "Warm memory",
      `${formatSize(status.warmMemory.heldBytes)} of ${formatSize(status.warmMemory.wantedBytes)} that are to be ready for the next checkpoint`,
    ],
    ["Store", renderHealth(status.storeHealth)],
    ["Store used", formatSize(status.storeUsedBytes)],
    ["Store free", formatSize(status.storeFreeBytes)],
    ["Networks", renderNetworks(status.networks)],
    ["Standby", renderStandbys(status.standbys)],
  ]);
}

/** Says what stands by for the next networks. */
export function renderNetworks(networks: OperationOutput<"daemon.status">["networks"]): string {
  const { readyCount, makerCount } = networks;
  const makers = makerCount === 1 ? "program that makes" : "programs that make";
  return `${readyCount} ready in advance, ${makerCount} ${makers} links`;
}

function renderHealth({ state, reason }: OperationOutput<"daemon.status">["storeHealth"]): string {
  return reason === null ? state : `${state}: ${reason}`;
}

function renderStandbys(standbys: OperationOutput<"daemon.status">["standbys"]): string {
  const { count, memoryBytes, budgetBytes, policy, reason } = standbys;
  const used = `${count} ready, ${formatSize(memoryBytes)} of ${formatSize(budgetBytes)}`;
  return `${used} (policy ${policy}${reason === null ? "" : `; paused: ${reason}`})`;
}
