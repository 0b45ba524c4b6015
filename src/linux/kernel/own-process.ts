import { readFileSync } from "node:fs";
import { check, libc } from "./libc.ts";

const native = {
  prctl: libc.func("int prctl(int option, unsigned long argument)"),
  setrlimit: libc.func("int setrlimit(int resource, const uint64_t *limits)"),
};
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
const RLIMIT_DATA = 2;
const KIBIBYTE = 1024;

/** Lets the kernel end this process when the one that started it ends, however it does. */
export function endWithParent(): void {
  check("prctl", native.prctl(PR_SET_PDEATHSIG, SIGKILL));
}

/**
 * Lets this process take so many bytes of memory of its own beside what it has now.
 *
 * An allocation beyond fails, or ends the process where V8 makes it.
 */
export function limitFurtherMemory(sizeBytes: number): void {
  const status = readFileSync("/proc/self/status", "latin1");
  const hasBytes = Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * KIBIBYTE;
  const limit = BigInt(hasBytes + sizeBytes);
  check("setrlimit", native.setrlimit(RLIMIT_DATA, new BigUint64Array([limit, limit])));
}
