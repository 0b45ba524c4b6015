import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";

/** The kernel makes pages of hugetlbfs for whoever asks, up to this number, and takes them back: none is kept. */
const OFFER = "/proc/sys/vm/nr_overcommit_hugepages";

/** Whether the kernel has pages of hugetlbfs of 2 MiB, and we may say how many it makes. */
export function canOfferLargePages(): boolean {
  try {
    accessSync(OFFER, constants.W_OK);
    return told("Hugepagesize") === 2048;
  } catch {
    return false;
  }
}

/** Lets programs have so many pages of hugetlbfs more, until it is disposed of. Tests beside it add their own. */
export function offerLargePages(count: number): Disposable {
  addToOffer(count);
  return { [Symbol.dispose]: () => addToOffer(-count) };
}

/** Returns how many pages of hugetlbfs programs have at the moment. */
export function countLargePages(): number {
  return told("HugePages_Total") - told("HugePages_Free");
}

function told(name: string): number {
  const [, number = "0"] =
    new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
  return Number(number);
}

function addToOffer(count: number): void {
  // Under a lock, since two that read and write at once would leave what one of them has added.
  execFileSync("flock", [OFFER, "sh", "-c", `echo $(($(cat ${OFFER}) + ${count})) > ${OFFER}`]);
}
