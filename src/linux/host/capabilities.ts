import { readFileSync } from "node:fs";

/** Bits of the capability sets in /proc/PID/status. */
const CAPABILITY_BITS = { CAP_SYS_ADMIN: 21n, CAP_SYS_RESOURCE: 24n } as const;

/** Tells whether this process has a capability in its effective set. */
export function hasCapability(name: keyof typeof CAPABILITY_BITS): boolean {
  const status = readFileSync("/proc/self/status", "utf8");
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? "0"}`);
  return ((mask >> CAPABILITY_BITS[name]) & 1n) === 1n;
}
