// What delivery costs: config.json first; express is twice the standard price.
export async function shippingCents(kind, { config }) {
  if (kind === "express") return config.shippingCents.standard * 2;
  return config.shippingCents[kind];
}
