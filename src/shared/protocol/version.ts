import packageJson from "../../../package.json" with { type: "json" };

/** Version of this package; client and daemon must agree on it. */
export const WAYPOINT_VERSION: string = packageJson.version;
