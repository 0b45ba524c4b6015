import type { FileHandle } from "node:fs/promises";
import { isSystemError } from "../../../base/index.ts";
import type { CopyJob } from "./copy-job.ts";

const CHUNK_BYTES = 1024 * 1024;

/** Copies the content of an open file; holes stay holes. */
export async function copyContent(from: FileHandle, to: FileHandle, job: CopyJob): Promise<void> {
  const { size: sizeBytes } = await from.stat();
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, sizeBytes)));
  for (let at = 0; at < sizeBytes; ) {
    const stretch = stretchAt(from, at, sizeBytes, job);
    if (stretch === null) break;
    at = stretch.start;
    while (at < stretch.end) {
      job.throwIfGone();
      const wanted = Math.min(chunk.length, stretch.end - at);
      const { bytesRead } = await from.read(chunk, 0, wanted, at);
      // A file of the machine may become shorter meanwhile.
      if (bytesRead === 0) break;
      await writeAll(to, chunk.subarray(0, bytesRead), at);
      job.countBytes(bytesRead);
      at += bytesRead;
    }
    if (at < stretch.end) break;
  }
  await to.truncate(sizeBytes);
}

function stretchAt(file: FileHandle, at: number, sizeBytes: number, { calls }: CopyJob) {
  try {
    const found = calls.nextData(file.fd, at);
    return found === null ? null : { start: found.start, end: Math.min(found.end, sizeBytes) };
  } catch (error) {
    // A filesystem that does not tell its holes is all data.
    if (isSystemError(error, "EINVAL", "EOPNOTSUPP")) return { start: at, end: sizeBytes };
    throw error;
  }
}

async function writeAll(to: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await to.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    );
    written += bytesWritten;
  }
}
