// The page of a run that goes on: sentences, a table and a chart, from the events that the server sends once a second.

import { LineChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

import { base, rows, valueAxis } from "./base";
import type { LineSeriesOption, Option } from "./echarts";
import { three } from "./format";
import { nth, theme } from "./theme";

use([GridComponent, LineChart, MarkAreaComponent, SVGRenderer, TooltipComponent]);

/** What crates/plimsoll-serve/src/live.rs sends. */
interface Update {
  run: string;
  ended: boolean;
  text: { headline: string; phase: string; left: string; machine: string; warnings: string[] };
  systems: { id: number; name: string; failed: number }[];
  seconds: Second[];
}

interface Second {
  system: number;
  /** When it ended, in seconds from the run's start. */
  at: number;
  lasted: number;
  is_warm: boolean;
  rate: number;
  /** Milliseconds. */
  median: number | null;
  p99: number | null;
}

interface System {
  name: string;
  failed: number;
  seconds: Second[];
}

/** Seconds that the chart shows. */
const SHOWN = 600;
/** A system without a second for so long is not under load. */
const IDLE = 3;
/** Before a server that refused is asked again, in milliseconds. */
const PATIENCE = 3000;
const dashes = ["solid", "dashed", "dotted"] as const;

const byId = (id: string) => document.getElementById(id) as HTMLElement;
const page = byId("live");
const chart = init(byId("chart"), null, { renderer: "svg" });
const systems = new Map<number, System>();
let run = "";
let last = "";

/** Only what differs, so that a screen reader reads what is new, and a selection stays. */
function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const newest = () => Math.max(0, ...[...systems.values()].map(({ seconds }) => seconds[seconds.length - 1]?.at ?? 0));

function take(update: Update): void {
  // A run that begins again with slower drives has another file.
  if (update.run !== run) systems.clear();
  run = update.run;
  for (const { id, name, failed } of update.systems) {
    systems.set(id, { name, failed, seconds: systems.get(id)?.seconds ?? [] });
  }
  update.seconds.forEach((second) => systems.get(second.system)?.seconds.push(second));
  const from = newest() - SHOWN;
  for (const system of systems.values()) {
    const kept = system.seconds.findIndex(({ at }) => at >= from);
    system.seconds.splice(0, kept < 0 ? Math.max(0, system.seconds.length - 1) : kept);
  }
}

const color = (place: number) => `--c${(place % 6) + 1}`;
const dash = (place: number) => nth([...dashes], Math.floor(place / 6));

function row(body: Element, place: number): HTMLTableRowElement {
  const found = body.children[place];
  if (found) return found as HTMLTableRowElement;
  const made = document.createElement("tr");
  made.style.setProperty("--own", `var(${color(place)})`);
  made.style.setProperty("--dash", dash(place));
  for (let i = 0; i < 5; i++) made.append(document.createElement("td"));
  body.append(made);
  return made;
}

function table(): void {
  const body = byId("systems");
  const until = newest();
  [...systems.values()].forEach(({ name, failed, seconds }, place) => {
    const second = seconds[seconds.length - 1];
    const busy = second !== undefined && until - second.at < IDLE;
    const shown = (value: number | null | undefined) => (busy && typeof value === "number" ? three(value) : "–");
    const cells = [name, shown(second?.rate), shown(second?.median), shown(second?.p99), busy ? String(failed) : "–"];
    const own = row(body, place);
    own.className = busy ? "" : "idle";
    cells.forEach((text, i) => write(own.cells[i] as Element, text));
  });
  while (body.children.length > systems.size) body.lastElementChild?.remove();
}

/** `75` as `1:15`. */
function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** With a gap wherever a second is missing. */
function points(seconds: Second[]): [number, number | null][] {
  return seconds.flatMap(({ at, rate }, i): [number, number | null][] => {
    const before = seconds[i - 1]?.at ?? at;
    return at - before > 1.5 ? [[before, null], [at, rate]] : [[at, rate]];
  });
}

/** Stretches of time in which some system is warmed up. */
function warmUps(): [number, number][] {
  const warm = [...systems.values()].flatMap(({ seconds }) => seconds.filter((second) => second.is_warm));
  warm.sort((a, b) => a.at - b.at);
  const found: [number, number][] = [];
  for (const { at, lasted } of warm) {
    const last = found[found.length - 1];
    if (last && at - lasted <= last[1] + 0.5) last[1] = at;
    else found.push([at - lasted, at]);
  }
  return found;
}

/** Below the lines. */
function shades(color: string): LineSeriesOption {
  return {
    type: "line",
    data: [],
    silent: true,
    markArea: { silent: true, itemStyle: { color }, data: warmUps().map(([from, to]) => [{ xAxis: from }, { xAxis: to }]) },
  };
}

function draw(): void {
  const colours = theme();
  const until = newest();
  const from = Math.max(0, Math.min(until - SHOWN, ...[...systems.values()].map(({ seconds }) => seconds[0]?.at ?? until)));
  const option = base(colours, 0);
  const series = [...systems.values()].map(({ name, seconds }, place): LineSeriesOption => {
    const own = nth(colours.series.slice(0, 6), place);
    return {
      type: "line",
      name,
      data: points(seconds),
      symbol: "none",
      connectNulls: false,
      lineStyle: { color: own, width: 1.8, type: dash(place) },
      itemStyle: { color: own },
      emphasis: { disabled: true },
    };
  });
  Object.assign(option.tooltip as object, {
    formatter: (p: unknown) => {
      const params = p as { axisValue: number; value: unknown; seriesName: string; color: unknown }[];
      return rows(clock(params[0]?.axisValue ?? 0), params, "1/s");
    },
  });
  const found: Option = {
    ...option,
    legend: undefined,
    grid: { left: 44, right: 14, top: 12, bottom: 26 },
    xAxis: {
      type: "value",
      min: Math.max(from, until - SHOWN),
      max: Math.max(until, from + 10),
      axisLine: { lineStyle: { color: colours.soft } },
      splitLine: { show: false },
      splitNumber: 5,
      axisLabel: { color: colours.soft, fontSize: 11, showMinLabel: false, showMaxLabel: false, formatter: clock },
    },
    yAxis: valueAxis(colours, ""),
    series: [shades(colours.shade), ...series],
  };
  chart.resize();
  chart.setOption(found, { notMerge: true });
}

function warnings(texts: string[]): void {
  const list = byId("warnings");
  texts.forEach((text, i) => {
    const item = list.children[i] ?? list.appendChild(document.createElement("li"));
    write(item, text);
  });
  while (list.children.length > texts.length) list.lastElementChild?.remove();
}

function show({ text }: Update): void {
  write(byId("headline"), text.headline);
  write(byId("phase"), text.phase);
  write(byId("left"), text.left);
  write(byId("machine"), text.machine);
  warnings(text.warnings);
  table();
  draw();
}

function connected(is: boolean): void {
  const state = byId("state");
  state.classList.toggle("lost", !is);
  write(state, is ? "" : (state.dataset["lost"] ?? ""));
}

function listen(): void {
  const after = last === "" ? "" : `?after=${encodeURIComponent(last)}`;
  const source = new EventSource(`${page.dataset["events"] ?? ""}${after}`);
  source.onopen = () => connected(true);
  source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
    last = lastEventId;
    const update = JSON.parse(data) as Update;
    take(update);
    show(update);
    if (update.ended) {
      source.close();
      location.assign(page.dataset["report"] ?? "/");
    }
  };
  source.onerror = () => {
    connected(false);
    // The browser repeats what was interrupted by itself, with the number of the last event, but not what was refused.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, PATIENCE);
  };
}

listen();
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
