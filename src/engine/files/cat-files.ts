import { WaypointError } from "../../shared/errors/index.ts";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import { type Moment, openEntry } from "../moment/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { ChangedBase } from "./changed-base.ts";
import { fileFailure } from "./file-failure.ts";
import { type MomentPlace, OpenMoments } from "./open-moments.ts";
import { absolutePath, type FoundEntry, findEntry, shownPath } from "./place.ts";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Sends the content of files, one after the other, exactly and without holding it in memory.
 *
 * All are found before the first byte is sent. A checkpoint that is removed meanwhile is read to
 * the end of the file that is open.
 *
 * @throws FILE_NOT_FOUND | FILE_REFUSED  no regular file | FILE_FAILED | CANCELLED
 */
export async function catFiles(
  places: readonly MomentPlace[],
  client: StreamClient,
  engine: Engine,
): Promise<OperationOutput<"cat">> {
  await using moments = new OpenMoments(engine);
  const found: FoundFile[] = [];
  for (const place of places) found.push(await findFile(place, moments, engine));
  let bytes = 0;
  for (const each of found) {
    const changedBase = new ChangedBase(each.moment);
    changedBase.look(each.rawPath, each.entry);
    changedBase.tell(client);
    bytes += await sendFile(each, client);
  }
  return { files: found.length, bytes };
}

interface FoundFile extends FoundEntry {
  moment: Moment;
}

async function findFile(
  place: MomentPlace,
  moments: OpenMoments,
  engine: Engine,
): Promise<FoundFile> {
  const { moment, files } = await moments.open(place.moment);
  const rawPath = await absolutePath(place, moment, engine);
  const found = findEntry(files, rawPath, moment, { followsLast: true });
  if (found.entry.type === "file") return { ...found, moment };
  const kind = found.entry.type.replace("-", " ");
  throw new WaypointError("FILE_REFUSED", `${shownPath(rawPath)} is no file but a ${kind}.`, {
    hint: "`waypoint cp` copies directories, `waypoint browse` shows them.",
    detail: { moment: moment.name, path: shownPath(rawPath), type: found.entry.type },
  });
}

async function sendFile({ rawPath, entry }: FoundEntry, client: StreamClient): Promise<number> {
  let sentBytes = 0;
  try {
    await using file = await openEntry(entry);
    for (;;) {
      client.cancelled.throwIfAborted();
      // A new one each time: the socket may still hold the last.
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, sentBytes);
      if (bytesRead === 0) return sentBytes;
      await client.send("stdout", chunk.subarray(0, bytesRead));
      sentBytes += bytesRead;
    }
  } catch (error) {
    throw fileFailure(error, `read ${shownPath(rawPath)}`);
  }
}
