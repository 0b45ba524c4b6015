import type { Controller } from "../../base/index.ts";

/** Limits of one session; `null` sets none. */
export interface CgroupLimits {
  memoryLimitBytes: number | null;
  cpuLimit: number | null;
  pidsLimit: number | null;
}

/** A file of a control group and what to write to it. */
export interface LimitSetting {
  controller: Controller;
  file: string;
  value: string;
  /** Some kernels are built without it; then the others hold. */
  isOptional?: boolean;
}

const CPU_PERIOD_US = 100_000;

/** Returns what to write for the limits; version 2 has other names than version 1. */
export function limitSettings(version: 1 | 2, limits: CgroupLimits): LimitSetting[] {
  const { memoryLimitBytes, cpuLimit, pidsLimit } = limits;
  return [
    ...(memoryLimitBytes === null ? [] : memorySettings(version, String(memoryLimitBytes))),
    ...(cpuLimit === null ? [] : cpuSettings(version, Math.round(cpuLimit * CPU_PERIOD_US))),
    ...(pidsLimit === null
      ? []
      : [{ controller: "pids" as const, file: "pids.max", value: String(pidsLimit) }]),
  ];
}

/** The limit is for memory, not for what can be moved out of it: none of it may go to swap. */
function memorySettings(version: 1 | 2, value: string): LimitSetting[] {
  const controller = "memory";
  return version === 1
    ? [
        { controller, file: "memory.limit_in_bytes", value },
        { controller, file: "memory.memsw.limit_in_bytes", value, isOptional: true },
      ]
    : [
        { controller, file: "memory.max", value },
        { controller, file: "memory.swap.max", value: "0", isOptional: true },
      ];
}

function cpuSettings(version: 1 | 2, quotaUs: number): LimitSetting[] {
  const controller = "cpu";
  return version === 1
    ? [
        { controller, file: "cpu.cfs_period_us", value: String(CPU_PERIOD_US) },
        { controller, file: "cpu.cfs_quota_us", value: String(quotaUs) },
      ]
    : [{ controller, file: "cpu.max", value: `${quotaUs} ${CPU_PERIOD_US}` }];
}

/** Returns what to write for no limit of the processors. */
export function cpuUnlimited(version: 1 | 2): LimitSetting {
  const controller = "cpu";
  return version === 1
    ? { controller, file: "cpu.cfs_quota_us", value: "-1" }
    : { controller, file: "cpu.max", value: "max" };
}
