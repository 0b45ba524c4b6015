/**
 * packages owns what package managers write down: which file tells which package in which version.
 */

export { findCargoFile } from "./cargo.ts";
export { compareDebianVersions, compareVersions } from "./compare-versions.ts";
export { EXTENDED_STATES, findDpkgFile, listAutomatic } from "./dpkg.ts";
export { findGemFile } from "./gem.ts";
export { findGoFile } from "./go.ts";
export { findNpmFile, linkedPackageJson, listAsked } from "./npm.ts";
export {
  type FoundPackage,
  LIST_BYTES_MAX,
  PACKAGE_BYTES_MAX,
  type PackageFile,
  type PackageFileFinder,
} from "./package-file.ts";
export { findPipFile } from "./pip.ts";
