// Opens pages in Chromium without a network, at two widths, light and dark, and checks each: axe-core finds nothing, no
// page is wider than the window, and what scrolls or is a control can be reached by keyboard.
// node test/pages.mjs PAGE.html…

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { open, views } from "./browser.mjs";

const pages = process.argv.slice(2);
const browser = await open();

/** What a call gives once it holds. On a busy machine a chart is drawn late; false where it never does. */
async function eventually(holds) {
  for (let tries = 0; tries < 100; tries++) {
    if (await holds()) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}

/** The first chart over time is zoomed by keys, and shows all again. */
async function zoomed() {
  const chart = `[...document.querySelectorAll('[data-axis="time"]')].find((box) => box.tabIndex === 0)`;
  if (!(await browser.evaluate(`${chart}?.focus(), document.activeElement === ${chart}`))) return [];
  // In no order: marks are drawn in any.
  const drawn = () => browser.evaluate(`[...(${chart}.querySelector("svg")?.textContent ?? "")].sort().join("")`);
  const press = (key) => browser.evaluate(`${chart}.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true }))`);
  let all = "";
  // Whole when it stays as it is.
  const isWhole = await eventually(async () => {
    const before = all;
    all = await drawn();
    return all !== "" && all === before;
  });
  await press("+");
  const isNear = await eventually(async () => (await drawn()) !== all);
  await press("0");
  const isWholeAgain = await eventually(async () => (await drawn()) === all);
  return isWhole && isNear && isWholeAgain ? [] : ["keys do not zoom charts"];
}

async function check(file, view) {
  await browser.view(view);
  await browser.visit(pathToFileURL(resolve(file)).href);
  const faults = [...(await zoomed()), ...(await browser.faults(view))];
  return faults.map((fault) => `${file} at ${view.width} pixels, ${view.scheme}: ${fault}`);
}

const faults = [];
await browser.page("Network.enable", {});
await browser.page("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
for (const file of pages) {
  for (const view of views) faults.push(...(await check(file, view)));
}
await browser.close();
faults.forEach((fault) => console.error(fault));
console.log(`${pages.length} pages, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
