import { BROWSER_DRIVER, browserWords } from "../support/browser-driver.ts";
import { NODE_24 } from "./base.ts";
import type { Stage } from "./stage.ts";

/** Starts a headless Chromium in the background, with one page. */
export async function startBrowser(stage: Stage, url: string): Promise<void> {
  await stage.write("/root/driver.cjs", BROWSER_DRIVER);
  await stage.background(`exec chromium ${browserWords("/root/profile", url)}`);
}

/** Returns a line of shell that evaluates JavaScript in the page, and prints the value. */
export function inPage(expression: string): string {
  return `${NODE_24} /root/driver.cjs '${expression}'`;
}
