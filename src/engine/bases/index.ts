/**
 * bases owns the root filesystems that the store keeps: how one is added from a directory, an archive or
 * the machine itself, which there are, and when one may be removed.
 */
export { addBase } from "./add-base.ts";
export { listBases, setDefaultBase } from "./list-bases.ts";
export { removeBase } from "./remove-base.ts";
