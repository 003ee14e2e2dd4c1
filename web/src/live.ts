// The page of a run that goes on. Once a second the server sends what has changed of it as HTML, and the seconds that its
// chart is drawn from.

import { LineChart } from "echarts/charts";
import { GridComponent, MarkAreaComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

import { data } from "./data";
import type { Line, Lines, Maybe } from "./data";
import { lines } from "./lines";
import { nth, theme } from "./theme";

// What this chart needs of the parts in echarts.ts.
use([GridComponent, LineChart, MarkAreaComponent, SVGRenderer, TooltipComponent]);

/** What crates/plimsoll-serve/src/live.rs sends. */
interface Update {
  run: string;
  ended: boolean;
  html: string;
  systems: { id: number; name: string }[];
  seconds: Second[];
}

interface Second {
  system: number;
  /** When it ended, in seconds from the run's start. */
  at: number;
  lasted: number;
  is_warm: boolean;
  rate: number;
}

interface System {
  name: string;
  seconds: Second[];
}

/** Seconds that the chart shows. */
const SHOWN = 600;
/** Before a server that refused is asked again, in milliseconds. */
const PATIENCE = 3000;
const dashes = ["solid", "dashed", "dotted"] as const;

const address = location.pathname;
const section = document.getElementById("live") as HTMLElement;
const box = section.querySelector("[data-chart]") as HTMLElement;
const chart = init(box, null, { renderer: "svg" });
const systems = new Map<number, System>();
let run = "";
let last = "";

const newest = () => Math.max(0, ...[...systems.values()].map(({ seconds }) => seconds[seconds.length - 1]?.at ?? 0));

function take(update: Update): void {
  // A run that begins again with slower drives has another file.
  if (update.run !== run) systems.clear();
  run = update.run;
  for (const { id, name } of update.systems) systems.set(id, { name, seconds: systems.get(id)?.seconds ?? [] });
  update.seconds.forEach((second) => systems.get(second.system)?.seconds.push(second));
  const from = newest() - SHOWN;
  for (const system of systems.values()) {
    const kept = system.seconds.findIndex(({ at }) => at >= from);
    system.seconds.splice(0, kept < 0 ? Math.max(0, system.seconds.length - 1) : kept);
  }
}

/** Without the space between elements. */
function parts(node: Node): ChildNode[] {
  return [...node.childNodes].filter((part) => part instanceof Element || part.textContent?.trim() !== "");
}

/** Only what differs, so that a screen reader reads what is new, and a selection stays. The chart is drawn by itself. */
function change(own: ChildNode, next: ChildNode): void {
  if (own === box || own.isEqualNode(next)) return;
  if (!(own instanceof Element && next instanceof Element && own.nodeName === next.nodeName)) return own.replaceWith(next);
  own.className = next.className;
  const [present, wanted] = [parts(own), parts(next)];
  wanted.forEach((node, i) => (present[i] ? change(present[i], node) : own.append(node)));
  present.slice(wanted.length).forEach((node) => node.remove());
}

/** With a gap wherever a second is missing. */
function points(seconds: Second[]): [number, Maybe][] {
  return seconds.flatMap(({ at, rate }, i): [number, Maybe][] => {
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

function draw(): void {
  const own = data.charts[0] as Lines;
  const all = [...systems.values()];
  const drawn = all.map(({ seconds }) => points(seconds));
  const until = newest();
  const from = Math.max(0, until - SHOWN);
  Object.assign(own.x, { min: from, max: Math.max(until, from + 10) });
  own.lines = all.map(({ name }, i): Line => ({
    name,
    color: i % 6,
    dash: nth([...dashes], Math.floor(i / 6)),
    width: 1.8,
    symbol_size: 0,
    x: i,
    y: drawn[i]?.map(([, rate]) => rate),
    // The table is its legend.
    is_unlisted: true,
  }));
  data.columns = drawn.map((line) => line.map(([at]) => at));
  data.grounds[own.ground] = { areas: warmUps().map(([from, to]) => ({ from, to, is_shaded: true })) };
  const option = lines(theme(), own, box.clientWidth, undefined);
  chart.resize();
  if (option) chart.setOption(option, { notMerge: true });
}

function listen(): void {
  const after = last === "" ? "" : `?after=${encodeURIComponent(last)}`;
  const source = new EventSource(`${address}/events${after}`);
  const connected = (is: boolean) => section.classList.toggle("lost", !is);
  source.onopen = () => connected(true);
  source.onmessage = ({ data: text, lastEventId }: MessageEvent<string>) => {
    last = lastEventId;
    const update = JSON.parse(text) as Update;
    take(update);
    const next = section.cloneNode() as Element;
    next.innerHTML = update.html;
    change(section, next);
    draw();
    if (update.ended) {
      source.close();
      location.assign(address);
    }
  };
  source.onerror = () => {
    connected(false);
    // The browser repeats what was interrupted by itself, with the number of the last event, but not what was refused.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, PATIENCE);
  };
}

section.querySelector(".sentence")?.setAttribute("role", "status");
listen();
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
