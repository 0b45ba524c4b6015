import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { importClient } from "../remote/import-client.ts";
import { type Failure, ServerCalls } from "../remote/server-calls.ts";
import type { DynamoSdk, DynamoSender } from "./dynamo-table.ts";

/** A `DynamoDBClient` of the package `@aws-sdk/client-dynamodb`. */
export interface DynamoClient {
  send(command: never): Promise<unknown>;
}

/** Where DynamoDB is; what is not given is taken from where the package looks for it. */
export interface DynamoAddress {
  region?: string;
  endpoint?: string;
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

export type DynamoOptions = (
  | { /** One of the caller's own, who also closes it. */ client: DynamoClient }
  | DynamoAddress
) & {
  table: string;
  /** Makes the table where it is missing, paid by request. @defaultValue false */
  createTable?: boolean;
};

/** A connection, and how to end it. */
export interface DynamoConnection {
  sdk: DynamoSdk;
  client: DynamoSender;
  calls: ServerCalls;
  close: () => void;
}

const CONNECT_MS_MAX = 5000;
/** Well below the lease of a thread: what was sent is over before somebody else may write. */
const REQUEST_MS_MAX = 5000;

const LOST_ERRORS = [
  ...["InternalServerError", "LimitExceededException", "ProvisionedThroughputExceededException"],
  ...["RequestLimitExceeded", "ServiceUnavailable", "ThrottlingException", "TimeoutError"],
];

export async function connectDynamo(options: DynamoOptions): Promise<DynamoConnection> {
  const sdk = await importClient(
    "@aws-sdk/client-dynamodb",
    () => import("@aws-sdk/client-dynamodb"),
  );
  const { secretAccessKey = "", sessionToken = "" } =
    ("credentials" in options ? options.credentials : undefined) ?? {};
  const secrets = [secretAccessKey, sessionToken];
  const calls = new ServerCalls({ name: "DynamoDB", secrets, failureOf });
  if ("client" in options) {
    return { sdk, client: options.client as DynamoSender, calls, close: () => {} };
  }
  const { region, endpoint, credentials } = options;
  const address: DynamoDBClientConfig = {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  };
  const client = new sdk.DynamoDBClient({
    ...address,
    // Tried again here, where it is known whether that is safe.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      throwOnRequestTimeout: true,
    },
  });
  return { sdk, client: client as DynamoSender, calls, close: () => client.destroy() };
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return "failed";
  if (LOST_ERRORS.includes(error.name)) return "lost";
  const status = "$metadata" in error ? statusOf(error.$metadata) : 0;
  return status >= 500 ? "lost" : "failed";
}

function statusOf(metadata: unknown): number {
  const isThere = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata;
  return isThere ? Number(metadata.httpStatusCode) : 0;
}
