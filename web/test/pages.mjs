// Opens pages in Chromium without a network, at two widths, light and dark, and checks each: axe-core finds nothing, no
// page is wider than the window, and what scrolls or is a control can be reached by keyboard.
// node test/pages.mjs PAGE.html…

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const sizes = [
  { width: 1280, height: 800 },
  { width: 400, height: 800 },
];
const pages = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "plimsoll-pages-"));
const browser = spawn(
  process.env.PLIMSOLL_CHROMIUM ?? "chromium",
  ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);
browser.on("error", (why) => {
  console.error(`chromium could not be started: ${why.message}`);
  process.exit(1);
});

// Messages of the browser's protocol are JSON, each with a zero byte behind it.
const answers = new Map();
let last = 0;
let rest = "";
browser.stdio[4].on("data", (bytes) => {
  const parts = (rest + bytes).split("\0");
  rest = parts.pop();
  for (const part of parts) {
    const message = JSON.parse(part);
    answers.get(message.id)?.(message);
    answers.delete(message.id);
  }
});

function send(method, params = {}, sessionId = undefined) {
  const id = ++last;
  browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((done, fail) => {
    answers.set(id, ({ result, error }) => (error ? fail(new Error(`${method}: ${error.message}`)) : done(result)));
  });
}

const { targetId } = await send("Target.createTarget", { url: "about:blank" });
const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
const page = (method, params) => send(method, params, sessionId);

async function evaluate(expression) {
  const { result, exceptionDetails } = await page("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

const loaded = `new Promise((done) => {
  const wait = () => (document.readyState === "complete" ? requestAnimationFrame(() => done(true)) : setTimeout(wait, 10));
  wait();
})`;

const audited = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, help, nodes }) => id + ": " + help + ": " + nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")))`;

/** The first chart over time is zoomed by keys, and shows all again. */
async function zoomed() {
  const chart = `[...document.querySelectorAll('[data-axis="time"]')].find((box) => box.tabIndex === 0)`;
  if (!(await evaluate(`${chart}?.focus(), document.activeElement === ${chart}`))) return [];
  // In no order: marks are drawn in any.
  const drawn = () => evaluate(`[...${chart}.querySelector("svg").textContent].sort().join("")`);
  const press = (key) =>
    evaluate(`${chart}.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true })); new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))`);
  await press("0");
  const all = await drawn();
  await press("+");
  const near = await drawn();
  await press("0");
  return near !== all && (await drawn()) === all ? [] : ["keys do not zoom charts"];
}

async function check(file, { width, height }, scheme) {
  await page("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await page("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  await page("Page.navigate", { url: pathToFileURL(resolve(file)).href });
  await evaluate(loaded);
  const faults = [];
  const wide = await evaluate("document.documentElement.scrollWidth");
  if (wide > width) faults.push(`${wide} pixels wide`);
  if (!(await evaluate(`document.querySelector("h1") !== null && document.querySelector("main") !== null`))) faults.push("no heading");
  faults.push(...(await zoomed()));
  await evaluate(`${axe};0`);
  faults.push(...(await evaluate(audited)));
  return faults.map((fault) => `${file} at ${width} pixels, ${scheme}: ${fault}`);
}

const faults = [];
// A page in the background is drawn once a second.
await page("Page.bringToFront");
await page("Network.enable", {});
await page("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
// Light where there is most room, dark where there is least: layout and colors do not depend on each other.
for (const file of pages) {
  faults.push(...(await check(file, sizes[0], "light")), ...(await check(file, sizes[1], "dark")));
}
await send("Browser.close").catch(() => {});
browser.kill();
await new Promise((done) => (browser.exitCode === null && browser.signalCode === null ? browser.once("exit", done) : done()));
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
faults.forEach((fault) => console.error(fault));
console.log(`${pages.length} pages, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
