import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { isSystemError } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";

const MODE = { mode: 0o600 };

/** Writes a file of JSON, atomically for readers. @throws STORE_FULL  it cannot `what` */
export async function writeJson(filePath: string, value: object, what: string): Promise<void> {
  await replaceFile(filePath, JSON.stringify(value), what);
}

/** The same for a file that a person may have to read. @throws STORE_FULL  it cannot `what` */
export async function writeIndentedJson(filePath: string, value: object, what: string) {
  await replaceFile(filePath, indented(value), what);
}

/** The same, done when it returns. @throws STORE_FULL  it cannot `what` */
export function writeIndentedJsonNow(filePath: string, value: object, what: string): void {
  try {
    writeFileSync(`${filePath}.new`, `${indented(value)}\n`, MODE);
    renameSync(`${filePath}.new`, filePath);
  } catch (error) {
    throw explainDiskError(error, what);
  }
}

/** Reads a file of JSON; `null` where there is none that can be read. */
export async function readSoundJson(filePath: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(filePath, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || isAbsent(error)) return null;
    throw error;
  }
}

/** The same, done when it returns. */
export function readSoundJsonNow(filePath: string): unknown {
  try {
    return readJsonNow(filePath);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Reads a file of JSON; `null` where there is none. @throws SyntaxError  it is damaged */
export function readJsonNow(filePath: string): unknown {
  try {
    return JSON.parse(readFileSync(filePath, "utf8"));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

async function replaceFile(filePath: string, text: string, what: string): Promise<void> {
  try {
    await writeFile(`${filePath}.new`, `${text}\n`, MODE);
    await rename(`${filePath}.new`, filePath);
  } catch (error) {
    throw explainDiskError(error, what);
  }
}

function indented(value: object): string {
  return JSON.stringify(value, null, 2);
}

function isAbsent(error: unknown): boolean {
  return isSystemError(error, "ENOENT", "ENOTDIR");
}
