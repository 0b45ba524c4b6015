import { nameHostIn } from "../kernel/index.ts";

/** Gives the host of a session a name; `pid` is any process of it. Its files are left alone. */
export function nameHost(pid: number, name: string): void {
  nameHostIn(`/proc/${pid}/ns/uts`, name);
}
