// Chromium by its pipe, and what every page is checked for.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Light where there is most room, dark where there is least: layout and colors do not depend on each other. */
export const views = [
  { width: 1280, height: 800, scheme: "light" },
  { width: 400, height: 800, scheme: "dark" },
];

const loaded = `new Promise((done) => {
  const wait = () => (document.readyState === "complete" ? requestAnimationFrame(() => done(true)) : setTimeout(wait, 10));
  wait();
})`;

const audited = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, help, nodes }) => id + ": " + help + ": " + nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")))`;

/** One tab of a browser of its own. */
export async function open() {
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
  // A page in the background is drawn once a second.
  await page("Page.bringToFront");

  async function evaluate(expression) {
    const { result, exceptionDetails } = await page("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async function view({ width, height, scheme }) {
    await page("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await page("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  async function visit(url) {
    await page("Page.navigate", { url });
    await evaluate(loaded);
  }

  /** What is wrong with the page that is open, at the width that it has. */
  async function faults({ width }) {
    const found = [];
    const wide = await evaluate("document.documentElement.scrollWidth");
    if (wide > width) found.push(`${wide} pixels wide`);
    if (!(await evaluate(`document.querySelector("h1") !== null && document.querySelector("main") !== null`))) found.push("no heading");
    await evaluate(`${axe};0`);
    return [...found, ...(await evaluate(audited))];
  }

  async function picture(file) {
    const { data } = await page("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  async function close() {
    await send("Browser.close").catch(() => {});
    browser.kill();
    await new Promise((done) => (browser.exitCode === null && browser.signalCode === null ? browser.once("exit", done) : done()));
    // Its other processes write to it for a moment longer.
    for (let tries = 1; ; tries++) {
      try {
        return rmSync(profile, { recursive: true, force: true });
      } catch (error) {
        if (tries === 50) throw error;
        await new Promise((done) => setTimeout(done, 100));
      }
    }
  }

  return { page, evaluate, view, visit, faults, picture, close };
}
