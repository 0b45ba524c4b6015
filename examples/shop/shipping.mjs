// What delivery costs: config.json first, then the table shipping_rates; undefined if neither knows.
import { sqlText } from "./database.mjs";

export async function shippingCents(kind, { config, database }) {
  if (Object.hasOwn(config.shippingCents, kind)) return config.shippingCents[kind];
  const [row] = await database.query(
    `SELECT cents FROM shipping_rates WHERE kind = ${sqlText(kind)}`,
  );
  return row?.cents;
}
