// A run of twelve systems while it goes on, in Chromium: its chart grows, a server that is started again loses no second,
// the page fits a phone, axe-core finds nothing, and at its end comes the report.
// node test/live.mjs PLIMSOLL DIRECTORY

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { open, views } from "./browser.mjs";

const [plimsoll, dir] = process.argv.slice(2).map((path) => resolve(path));
const SYSTEMS = 12;
const PATIENCE = 60_000;

writeFileSync(
  join(dir, "live.toml"),
  `title = "How do twelve systems share a machine?"
[system.db]
mock = { latency = "20ms" }
count = ${SYSTEMS}
[workload.oltp.tpcc]
warehouses = 1
[[step]]
run = "oltp"
system = "db"
users = 2
ramp = "1s"
measure = "20s"
`,
);

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const children = [];

/** Starts plimsoll, and gives the address that it prints. */
async function start(...args) {
  const child = spawn(plimsoll, args, { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
  children.push(child);
  let printed = "";
  const address = new Promise((done, fail) => {
    child.stderr.on("data", (bytes) => {
      printed += bytes;
      const found = printed.match(/http:\/\/\S+/);
      if (found) done(found[0]);
    });
    child.once("exit", () => fail(new Error(`plimsoll ${args.join(" ")} ended: ${printed}`)));
  });
  const ended = new Promise((done) => child.once("exit", done));
  return { child, ended, address: await address };
}

async function until(what, test) {
  for (let waited = 0; waited < PATIENCE; waited += 100) {
    if (await test()) return;
    await pause(100);
  }
  throw new Error(`waited for ${what} in vain`);
}

const faults = [];
const expect = (holds, fault) => holds || faults.push(fault);
const browser = await open();
const { evaluate } = browser;
const text = (selector) => evaluate(`document.querySelector("${selector}")?.textContent ?? ""`);
const isLost = () => evaluate(`getComputedStyle(document.querySelector(".state")).display !== "none"`);
/** Lines of the chart; of each how many points it has, and in how many pieces it is. */
const lines = () =>
  evaluate(`[...document.querySelectorAll("#live [data-chart] path")].map((path) => path.getAttribute("d") ?? "")
    .map((d) => ({ points: (d.match(/[ML]/g) ?? []).length, pieces: (d.match(/M/g) ?? []).length }))
    .filter(({ points }) => points > 2).slice(-${SYSTEMS})`);
const points = async () => Math.min(...(await lines()).map((line) => line.points));

try {
  const run = await start("run", "live.toml", "-o", "live.plimsoll", "--serve=127.0.0.1:0");
  let other = await start("serve", ".", "--listen", "127.0.0.1:0");
  const { port } = new URL(other.address);

  // The server of the directory, which is started again in the middle.
  await browser.view(views[0]);
  await browser.visit(new URL("/run/live.plimsoll", other.address).href);
  await until("twelve systems", async () => (await evaluate(`document.querySelectorAll("#live tbody tr:not(.idle)").length`)) === SYSTEMS);
  await until("a chart", async () => (await lines()).length === SYSTEMS);
  const before = await points();
  await until("a chart that grows", async () => (await points()) > before + 1);
  const headline = await text("#live .sentence");
  expect(headline === `Measuring ${SYSTEMS} systems with 2 users each.`, `headline: ${headline}`);
  other.child.kill();
  await other.ended;
  await until("a lost connection that is shown", isLost);
  await pause(2000);
  const lost = await points();
  other = await start("serve", ".", "--listen", `127.0.0.1:${port}`);
  await until("a connection again", async () => !(await isLost()));
  await until("the seconds in between", async () => (await points()) > lost + 2);
  const pieces = (await lines()).map((line) => line.pieces);
  expect(pieces.every((n) => n === 1), `a second is missing after the connection was lost: ${pieces}`);

  // The server beside the run, which ends with it unless a page is open that waits for the report.
  for (const view of views) {
    await browser.view(view);
    await browser.visit(new URL("/run/live.plimsoll", run.address).href);
    await until("figures", async () => (await points()) > 2);
    faults.push(...(await browser.faults(view)).map((fault) => `live at ${view.width} pixels: ${fault}`));
    await browser.picture(join(dir, `live-${view.width}.png`));
  }
  await until("the report at the end of the run", () => evaluate(`document.getElementById("trust") !== null`));
  await until("charts of the report", () => evaluate(`document.querySelector("[data-chart] svg") !== null`));
  expect((await run.ended) === 0, "the run failed");

  for (const view of views) {
    await browser.view(view);
    await browser.visit(other.address);
    faults.push(...(await browser.faults(view)).map((fault) => `catalog at ${view.width} pixels: ${fault}`));
  }
} catch (why) {
  faults.push(why.message);
}
await browser.close();
children.forEach((child) => child.kill());
faults.forEach((fault) => console.error(fault));
console.log(`live page of ${SYSTEMS} systems, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
