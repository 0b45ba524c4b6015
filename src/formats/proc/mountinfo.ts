/** A mount as /proc/PID/mountinfo tells it. */
export interface MountEntry {
  id: number;
  parentId: number;
  /** Major and minor of its filesystem. */
  device: string;
  /** What of its filesystem it shows. */
  root: string;
  mountPoint: string;
  options: string[];
  type: string;
  source: string;
  /** Options of its filesystem, as written: what they mean is up to its type. */
  filesystemOptions: string[];
}

/** Parses /proc/PID/mountinfo; what is mounted in another mount comes after it. */
export function parseMountInfo(text: string): MountEntry[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [id, parentId, device = "", root = "", point = "", options = ""] = before.split(" ");
      const [type = "", source = "", filesystemOptions = ""] = after.split(" ");
      return {
        id: Number(id),
        parentId: Number(parentId),
        device,
        root: decodeOctal(root),
        mountPoint: decodeOctal(point),
        options: options.split(","),
        type,
        source: decodeOctal(source),
        filesystemOptions: filesystemOptions.split(","),
      };
    });
}

/** The kernel writes blanks, line breaks and backslashes as octal numbers. */
function decodeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_whole, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
