import type { RestoreCheck } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

const SHOWN_MAX = 3;

/** Returns in one line whether what is there now is what was to be there. */
export function renderCheck(check: RestoreCheck): string {
  const { files, processes, ports, unknown } = check;
  const different = [
    ...(files === null || files.count === 0
      ? []
      : [
          `${files.count === 1 ? "1 path differs" : `${files.count} paths differ`} already: ${list(files.paths, files.count)}`,
        ]),
    ...(processes?.missing ?? []).map(
      ({ pid, command }) => `process ${pid} (${shownCommand(command)}) is not there`,
    ),
    ...(processes?.others ?? []).map(
      ({ pid, command }) => `process ${pid} (${shownCommand(command)}) is new`,
    ),
    ...(ports?.missing ?? []).map((port) => `${portOf(port)} is not listened on`),
    ...(ports?.others ?? []).map((port) => `${portOf(port)} is listened on`),
    ...Object.entries(unknown).map(([part, reason]) => `${part} unknown (${printable(reason)})`),
  ];
  if (different.length > 0) return `Checked: ${different.join("; ")}.`;
  const same = [
    // What it had not written is the base's, and was not looked at.
    ...(files === null ? [] : ["files that the session wrote"]),
    ...(processes === null ? [] : ["processes"]),
    ...(ports === null ? [] : ["ports"]),
  ];
  return `Checked: ${same.join(", ")} are as planned.`;
}

function list(paths: readonly string[], count: number): string {
  const shown = paths.slice(0, SHOWN_MAX).map(printable).join(", ");
  return count > SHOWN_MAX ? `${shown}, …` : shown;
}

function portOf({
  protocol,
  address,
  port,
}: {
  protocol: string;
  address: string;
  port: number | null;
}) {
  return port === null ? `${protocol} ${printable(address)}` : `${protocol} port ${port}`;
}
