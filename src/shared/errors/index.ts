/**
 * errors owns the registry of codes, the one error class, and which name was meant by a wrong one.
 * It does not format for people (cli) and knows no Node built-in, so that a browser can use it.
 * docs/errors.md is generated from it.
 */

export { didYouMean } from "./nearest-names.ts";
export {
  ERROR_REGISTRY,
  type ErrorCode,
  type ErrorKind,
  type ErrorRow,
  EXIT_CODE_OWN_FAILURE,
  EXIT_CODE_UNKNOWN_ERROR,
} from "./registry.ts";
export {
  type ErrorDetail,
  type ErrorWire,
  hasCode,
  toWaypointError,
  WaypointError,
} from "./waypoint-error.ts";
