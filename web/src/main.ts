// Draws every element with data-chart; draws again when width, colours or scale change.

import { blockChart } from "./block";
import { blockTime } from "./blocktime";
import { label } from "./data";
import { connect, init } from "./echarts";
import type { ECharts, Option } from "./echarts";
import { latency, throughput } from "./ladder";
import type { Axis } from "./ladder";
import { line } from "./line";
import { shared } from "./shared";
import { theme } from "./theme";
import { timeline } from "./timeline";

const GROUP = "time";
const charts = new Map<HTMLElement, ECharts>();
const log: Record<string, boolean> = {};

function option(box: HTMLElement, width: number): Option | undefined {
  const { chart = "", axis = "", txn = "" } = box.dataset;
  const colours = theme();
  switch (chart) {
    case "nopm":
    case "tpm":
    case "rate":
      return throughput(colours, chart, axis as Axis);
    case "tpm-per-user":
      return throughput(colours, "tpm_per_user", axis as Axis);
    case "line":
      return line(colours, Number(box.dataset["step"] ?? "0"));
    case "latency":
      return latency(colours, txn, axis as Axis, log["latency"] ?? false);
    case "block-bars":
    case "block-curve":
    case "block-rounds":
      return blockChart(colours, chart, box.dataset, width);
    case "block-iops-time":
    case "block-mb-time":
    case "block-latency-time":
      return blockTime(colours, chart, box.dataset, width, log[`block-${box.dataset["block"] ?? ""}`] ?? false);
    case "shared-rate":
    case "shared-iops":
    case "shared-mb":
    case "shared-ms":
      return shared(colours, chart, Number(box.dataset["place"] ?? "0"), width);
    default:
      return timeline(colours, chart, width, log["time"] ?? false);
  }
}

/** A legend may need more room than the height that styles give. */
function height(found: Option): number {
  const grid = found.grid as { top?: number; height?: number; bottom?: number } | undefined;
  // Bars of jobs report how much room they need.
  return (grid?.bottom ?? 44) + (grid?.height === undefined ? 204 : grid.height + (grid.top ?? 0));
}

/** Dragging selects a stretch of time, a double click shows all again. Not by touch, which has to scroll the page. */
function drag(chart: ECharts): void {
  if (!matchMedia("(pointer: fine)").matches) return;
  chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
}

function draw(box: HTMLElement): void {
  const found = option(box, box.clientWidth);
  if (!found) {
    const empty = document.createElement("p");
    empty.className = "empty";
    empty.textContent = label("chart-no-data");
    box.replaceChildren(empty);
    box.style.height = "auto";
    return;
  }
  box.style.height = `${height(found)}px`;
  let chart = charts.get(box);
  if (!chart) {
    chart = init(box, null, { renderer: "svg" });
    if (box.dataset["axis"] === "time") {
      chart.group = GROUP;
      const own = chart;
      own.getZr().on("dblclick", () => own.dispatchAction({ type: "dataZoom", start: 0, end: 100 }));
    }
    charts.set(box, chart);
  }
  chart.resize();
  chart.setOption(found, { notMerge: true });
  if (box.dataset["axis"] === "time") drag(chart);
  const svg = box.querySelector("svg");
  // With a view box, styles can scale the drawing to the width of a printed page.
  svg?.setAttribute("viewBox", `0 0 ${chart.getWidth()} ${chart.getHeight()}`);
}

/** What is folded away has no width; it is drawn when it is unfolded, and before everything is printed. */
const folded = (box: HTMLElement) => box.closest("details:not([open])") !== null;

function drawAll(): void {
  const all = [...document.querySelectorAll<HTMLElement>("[data-chart]")];
  all.filter((box) => !folded(box)).forEach(draw);
}

function unfold(details: HTMLElement): void {
  details.querySelectorAll<HTMLElement>("[data-chart]").forEach(draw);
}

function switches(): void {
  document.querySelectorAll<HTMLElement>("[data-switch]").forEach((box) => {
    const name = box.dataset["switch"] ?? "";
    const button = (text: string, value: boolean) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-pressed", String((log[name] ?? false) === value));
      made.addEventListener("click", () => {
        log[name] = value;
        box.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", String(b === made)));
        drawAll();
      });
      return made;
    };
    box.replaceChildren(button(label("chart-linear"), false), button(label("chart-log"), true));
  });
}

function whenIdle(work: () => void): () => void {
  let waiting = 0;
  return () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(work);
  };
}

switches();
drawAll();
connect(GROUP);
let width = window.innerWidth;
window.addEventListener(
  "resize",
  whenIdle(() => {
    if (window.innerWidth !== width) drawAll();
    width = window.innerWidth;
  }),
);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
// Paper is light: styles change with the medium, and charts take their colours from them.
matchMedia("print").addEventListener("change", drawAll);
document.querySelectorAll<HTMLDetailsElement>("details").forEach((details) => {
  details.addEventListener("toggle", () => details.open && unfold(details));
});
window.addEventListener("beforeprint", () => document.querySelectorAll<HTMLElement>("details:not([open])").forEach(unfold));
