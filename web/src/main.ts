// Draws every element with data-chart; draws again when width, colours or scale change.

import { bars } from "./bars";
import { data, label } from "./data";
import { connect, init } from "./echarts";
import type { ECharts, LineSeriesOption, Option } from "./echarts";
import { lines } from "./lines";
import { theme } from "./theme";

const GROUP = "time";
const charts = new Map<HTMLElement, ECharts>();
/** Scales that the reader chose; else the range of the values decides. */
const log: Record<string, boolean> = {};

const chartOf = ({ dataset }: HTMLElement) => data.charts[Number(dataset["place"])];

/** The switch that a chart's scale follows. */
function switchOf(box: HTMLElement): string {
  const chart = chartOf(box);
  return (chart?.kind === "lines" ? chart.y.switch : undefined) ?? "";
}

function option(box: HTMLElement, width: number): Option | undefined {
  const chart = chartOf(box);
  if (!chart) return undefined;
  return chart.kind === "bars" ? bars(theme(), chart, width) : lines(theme(), chart, width, log[switchOf(box)]);
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

function zoom(chart: ECharts, start: number, end: number): void {
  chart.dispatchAction({ type: "dataZoom", start: Math.max(0, start), end: Math.min(100, end) });
}

/** What the mouse does, by keys: + and − zoom, arrows move, 0 shows all. Whether it was one of them. */
function key(chart: ECharts, name: string): boolean {
  const found = (chart.getOption()["dataZoom"] as { start: number; end: number }[])[0];
  if (!found) return false;
  const { start, end } = found;
  const quarter = (end - start) / 4;
  // At an edge it stops, as wide as it was.
  const move = (by: number) => {
    const held = Math.min(Math.max(by, -start), 100 - end);
    zoom(chart, start + held, end + held);
  };
  const steps: Record<string, () => void> = {
    "+": () => zoom(chart, start + quarter, end - quarter),
    "=": () => zoom(chart, start + quarter, end - quarter),
    "-": () => zoom(chart, start - 2 * quarter, end + 2 * quarter),
    "0": () => zoom(chart, 0, 100),
    ArrowLeft: () => move(-quarter),
    ArrowRight: () => move(quarter),
  };
  steps[name]?.();
  return name in steps;
}

/** Of a line of text. */
const TEXT = 15;

/** Moves names at the ends of lines apart where they would stand on each other. */
function spread(chart: ECharts, series: LineSeriesOption[]): void {
  const ends = series.flatMap((own, seriesIndex) => {
    const points = (own.data ?? []) as { value: [number, number | null] }[];
    const measured = points.filter(({ value }) => value?.[1] !== null);
    const last = measured[measured.length - 1];
    if (!own.endLabel?.show || !last) return [];
    const y = (chart.convertToPixel({ seriesIndex }, last.value as number[]) as unknown as number[])[1] ?? 0;
    return [{ seriesIndex, y, to: y }];
  });
  if (ends.length < 2) return;
  // From below, so that none is pushed out of the drawing.
  ends.sort((a, b) => b.y - a.y);
  ends.forEach((end, i) => {
    const below = ends[i - 1];
    if (below) end.to = Math.min(end.y, below.to - TEXT);
  });
  const moved = series.map((_, i) => {
    const end = ends.find(({ seriesIndex }) => seriesIndex === i);
    return end ? { endLabel: { offset: [0, end.to - end.y] } } : {};
  });
  chart.setOption({ series: moved } as Option);
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
      own.getZr().on("dblclick", () => zoom(own, 0, 100));
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.closest("figure")?.querySelector("figcaption")?.textContent ?? "chart");
      box.addEventListener("keydown", (event) => {
        if (key(own, event.key)) event.preventDefault();
      });
    }
    charts.set(box, chart);
  }
  chart.resize();
  chart.setOption(found, { notMerge: true });
  spread(chart, (found.series ?? []) as LineSeriesOption[]);
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
  press();
}

function unfold(details: HTMLElement): void {
  details.querySelectorAll<HTMLElement>("[data-chart]").forEach(draw);
  press();
}

function isLog(name: string): boolean {
  const own = [...charts].filter(([box]) => switchOf(box) === name);
  return own.some(([, chart]) => (chart.getOption()["yAxis"] as { type: string }[])[0]?.type === "log");
}

function switches(): void {
  document.querySelectorAll<HTMLElement>("[data-switch]").forEach((box) => {
    const name = box.dataset["switch"] ?? "";
    const button = (text: string, value: boolean) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", () => {
        log[name] = value;
        drawAll();
      });
      return made;
    };
    box.replaceChildren(button(label("chart-linear"), false), button(label("chart-log"), true));
  });
}

/** Shows which scale is drawn, chosen or not. */
function press(): void {
  document.querySelectorAll<HTMLElement>("[data-switch]").forEach((box) => {
    const found = isLog(box.dataset["switch"] ?? "");
    box.querySelectorAll("button").forEach((made, i) => made.setAttribute("aria-pressed", String(found === (i === 1))));
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
