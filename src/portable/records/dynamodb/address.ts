import { WaypointError } from "../../../shared/errors/index.ts";
import type { DynamoAddress } from "./connect-dynamo.ts";

const EXAMPLE = "dynamodb://TABLE?region=eu-west-1&createTable=true";
const NAMES = ["region", "endpoint", "createTable"];

/**
 * Reads an address such as `dynamodb://TABLE?region=eu-west-1&createTable=true`.
 *
 * @throws USAGE_INVALID  it is none.
 */
export function optionsOf(
  address: string,
): DynamoAddress & { table: string; createTable: boolean } {
  const [, table, query = ""] = /^dynamodb:\/\/([\w.-]{3,255})(?:\?(.*))?$/.exec(address) ?? [];
  const words = new URLSearchParams(query);
  const unknown = [...words.keys()].filter((name) => !NAMES.includes(name));
  if (table === undefined || unknown.length > 0) {
    throw new WaypointError("USAGE_INVALID", "That is no address of a table of DynamoDB.", {
      hint: `It looks like ${EXAMPLE}`,
      detail: { unknown },
    });
  }
  const [region, endpoint] = [words.get("region"), words.get("endpoint")];
  return {
    table,
    createTable: words.get("createTable") === "true",
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
  };
}
