// Charts over the run's time, with phases shaded and events marked. All of them zoom together.

import { base, legendRows, rows, valueAxis } from "./base";
import { data, isWide, label } from "./data";
import type { Maybe, Phase, Series } from "./data";
import type { LineSeriesOption, Option } from "./echarts";
import { axis, escape } from "./format";
import { mediumColor, nth, otherColor } from "./theme";
import type { Theme } from "./theme";

interface Line {
  name: string;
  t: number[];
  v: Maybe[];
  color: string;
  dash?: "solid" | "dashed" | "dotted";
  stack?: string;
  area?: number;
}

interface Plot {
  unit: string;
  lines: Line[];
  max?: number;
  /** Counts have no halves. */
  whole?: boolean;
  /** On a logarithmic axis, if that is chosen or the range is wide. */
  canBeLog?: boolean;
}

const mega = 1e-6;

const end = data.phases.reduce((last, p) => Math.max(last, p.end), 0);

/** Where load begins. Before it stands preparation, which may take longer than all else. */
const begin = data.phases.filter((p) => p.kind !== "prepare").reduce((first, p) => Math.min(first, p.start), end);

/** What is shown first: all, or without a preparation that would take the room of what it is for. */
const from = begin > end / 4 && begin < end ? begin : 0;

/** Long runs are counted in minutes or hours: seconds per unit, and the axis's name. */
const [unit, unitName] = ((): [number, string] => {
  if (end - from <= 300) return [1, label("chart-time-s")];
  return end - from <= 7200 ? [60, label("chart-time-min")] : [3600, label("chart-time-h")];
})();

function metric(name: string, subject?: string): Series[] {
  return data.series.filter((s) => s.metric === name && (subject === undefined || s.subject === subject));
}

function line(series: Series, name: string, color: string, scale = 1): Line {
  const v = scale === 1 ? series.values : series.values.map((value) => (value === null ? null : value * scale));
  return { name, t: data.times[series.times] ?? [], v, color };
}

/** Reads and writes of each device; the color is the device, the dash the operation. */
function devices(theme: Theme, metrics: [string, string, "solid" | "dashed" | "dotted"][], scale = 1): Line[] {
  const known = [...new Set(data.series.filter((s) => s.kind === "device").map((s) => s.subject))];
  const named = data.devices.filter(({ name }) => known.includes(name));
  const shown = named.length > 0 ? named : known.map((name) => ({ name, medium: null }));
  return shown.flatMap(({ name: device, medium }, i) =>
    metrics.flatMap(([name, what, dash]) =>
      metric(name, device).map((s): Line => {
        const text = [device, what].filter((part) => part !== "").join(" ");
        return { ...line(s, text, mediumColor(theme, data.media, medium, i), scale), dash };
      }),
    ),
  );
}

/** A metric of every system and one of the generator. */
function processes(theme: Theme, system: string, generator: string, scale = 1): Line[] {
  // An emulator is named like its medium.
  const name = (s: Series) => (s.kind === "emulator" ? `${label("chart-emulator")} ${s.subject}` : s.subject);
  // A system is named NAME@MEDIUM.
  const medium = (s: Series) => data.media.find((own) => s.subject === own || s.subject.endsWith(`@${own}`)) ?? null;
  return [...metric(system), ...metric(generator)].map((s, i): Line => {
    const dash = s.kind === "emulator" ? "dotted" : "solid";
    return { ...line(s, name(s), mediumColor(theme, data.media, medium(s), i), scale), dash };
  });
}

/** The color is the medium, the dash the operation. */
function lateness(theme: Theme): Line[] {
  const media = [...new Set(data.lateness.map((l) => l.medium))];
  const dashes = ["dashed", "solid", "dotted"] as const;
  return data.lateness.map(({ medium, op, t, late: v }, i): Line => {
    const before = data.lateness.slice(0, i).filter((l) => l.medium === medium).length;
    return { name: `${medium} ${op}`, t, v, color: mediumColor(theme, data.media, medium, media.indexOf(medium)), dash: nth([...dashes], before) };
  });
}

function throughput(theme: Theme): Line[] {
  const { t, rates, all: reduced } = data.seconds;
  const all = reduced ?? t.map((_, i): Maybe => {
    const own = rates.map(([, column]) => column[i] ?? null).filter((v) => v !== null);
    return own.length === 0 ? null : own.reduce((a, b) => a + b, 0);
  });
  const lines = rates.map(([name, v], i): Line => ({ name, t, v, color: otherColor(theme, data.media, i) }));
  return [{ name: label("chart-all"), t, v: all, color: theme.text }, ...lines];
}

function latencies(theme: Theme): Line[] {
  const { t, p50, p95, p99 } = data.seconds;
  const color = otherColor(theme, data.media, 0);
  return [
    { name: "p99", t, v: p99, color, area: 0.08, dash: "dotted" },
    { name: "p95", t, v: p95, color, area: 0.12, dash: "dashed" },
    { name: "p50", t, v: p50, color, area: 0.2 },
  ];
}

function cpu(theme: Theme): Line[] {
  const states = [
    ["cpu_user", "chart-cpu-user", 0],
    ["cpu_system", "chart-cpu-system", 1],
    ["cpu_iowait", "chart-cpu-iowait", 2],
    ["cpu_steal", "chart-cpu-steal", 3],
  ] as const;
  return states.flatMap(([name, id, color]) =>
    metric(name).map((s): Line => ({ ...line(s, label(id), otherColor(theme, data.media, color)), stack: "cpu", area: 0.75 })),
  );
}

const reads = () => label("chart-reads");
const writes = () => label("chart-writes");

function plot(theme: Theme, name: string): Plot | undefined {
  switch (name) {
    case "throughput":
      return { unit: label("chart-throughput"), lines: throughput(theme) };
    case "latency-time":
      return { unit: label("chart-latency"), lines: latencies(theme), canBeLog: true };
    case "in-flight": {
      const { t, in_flight: v } = data.seconds;
      return { unit: label("chart-in-flight"), lines: [{ name: label("chart-in-flight"), t, v, color: otherColor(theme, data.media, 0) }], whole: true };
    }
    case "cpu":
      return { unit: label("chart-cpu"), lines: cpu(theme), max: 100 };
    case "iops":
      return {
        unit: label("chart-iops"),
        lines: devices(theme, [
          ["device_reads", reads(), "dashed"],
          ["device_writes", writes(), "solid"],
          ["device_flushes", label("chart-flushes"), "dotted"],
        ]),
      };
    case "bandwidth":
      return {
        unit: label("chart-bandwidth"),
        lines: devices(theme, [["device_read_bytes", reads(), "dashed"], ["device_write_bytes", writes(), "solid"]], mega),
      };
    case "io-time":
      return {
        unit: label("chart-io-time"),
        lines: devices(theme, [["device_read_latency", reads(), "dashed"], ["device_write_latency", writes(), "solid"]]),
        canBeLog: true,
      };
    case "queue":
      return { unit: label("chart-queue"), lines: devices(theme, [["device_queue", "", "solid"]]) };
    case "cpu-one":
      return { unit: label("chart-cpu-one"), lines: processes(theme, "system_cpu", "generator_cpu") };
    case "memory":
      return { unit: label("chart-memory"), lines: processes(theme, "system_memory", "generator_memory", mega) };
    case "lateness":
      return { unit: label("chart-lateness"), lines: lateness(theme), canBeLog: true };
    default:
      return undefined;
  }
}

/** What is not measured is shaded; measured stretches bear their load where there is room. */
function areas(theme: Theme, width: number): LineSeriesOption["markArea"] {
  const shaded = data.phases.filter((p) => p.kind !== "measure");
  const wide = (p: Phase) => ((p.end - p.start) / (end - from)) * width > 12 + p.label.length * 7;
  const named = data.phases.filter((p) => p.kind === "measure" && wide(p));
  return {
    silent: true,
    itemStyle: { color: theme.shade },
    label: { position: "insideTop", distance: 3, color: theme.soft, fontSize: 11 },
    data: [
      ...shaded.map((p): Area => [{ xAxis: p.start / unit }, { xAxis: p.end / unit }]),
      ...named.map((p): Area => [
        { xAxis: p.start / unit, name: p.label, itemStyle: { color: "transparent" } },
        { xAxis: p.end / unit },
      ]),
    ],
  };
}

type Area = [{ xAxis: number; name?: string; itemStyle?: { color: string } }, { xAxis: number }];

/** An event's text without its code. */
const sentence = (text: string): string => text.slice(text.indexOf(": ") + 2);

/** Room that a name along its line needs beside that of the line before, in pixels. */
const NAME_ROOM = 15;

function marks(theme: Theme, width: number): LineSeriesOption["markLine"] {
  const place = (at: number) => ((at - from) / (end - from)) * width;
  let last = -Infinity;
  const named = [...data.events].sort((a, b) => a.at - b.at).map((e) => {
    const hasRoom = place(e.at) - last >= NAME_ROOM;
    if (hasRoom) last = place(e.at);
    return { ...e, hasRoom };
  });
  const colors: Record<string, string> = { warning: theme.warning, error: theme.error };
  return {
    symbol: "none",
    silent: false,
    // Along the line: upright, so that many find room.
    label: {
      show: true,
      position: "insideEndTop",
      distance: 2,
      color: theme.soft,
      fontSize: 10,
      width: 170,
      overflow: "truncate",
      formatter: (p) => sentence(String((p as { name?: string }).name ?? "")),
    },
    lineStyle: { width: 1, type: "solid", opacity: 0.9 },
    tooltip: { formatter: (p) => escape(String((p as { name?: string }).name ?? "")) },
    data: named.map((e) => ({
      xAxis: e.at / unit,
      name: e.text,
      label: { show: e.hasRoom },
      lineStyle: { color: colors[e.severity] ?? theme.soft, type: e.severity === "note" ? "dashed" : "solid" },
    })),
  };
}

function phaseAt(t: number): string {
  const phase = data.phases.find((p) => p.start < t && t <= p.end);
  return phase ? `${phase.label} · ${label(`phase-${phase.kind}`)}` : "";
}

/** A logarithmic axis has no place for zero. */
const shown = (value: Maybe, log: boolean): Maybe => (log && value !== null && value <= 0 ? null : value);

function series(theme: Theme, lines: Line[], width: number, log: boolean): LineSeriesOption[] {
  return lines.map((l, i) => ({
    type: "line",
    name: l.name,
    data: l.t.map((t, k) => [t / unit, shown(l.v[k] ?? null, log)]),
    // Without one the legend shows the line itself, with its dashes.
    symbol: l.stack ? "emptyCircle" : "none",
    showSymbol: false,
    connectNulls: false,
    // Thins out only what is indistinguishable on screen, and keeps the extremes.
    sampling: l.stack ? undefined : "minmax",
    stack: l.stack,
    lineStyle: { color: l.color, width: l.stack ? 0 : 1.6, type: l.dash ?? "solid" },
    itemStyle: { color: l.color },
    // An area ends at zero, which a logarithmic axis does not have.
    areaStyle: l.area && !log ? { color: l.color, opacity: l.area, origin: "start" } : undefined,
    emphasis: { disabled: true },
    ...(i === 0 ? { markArea: areas(theme, width), markLine: marks(theme, width) } : {}),
  }));
}

/** `undefined` where nothing was recorded. */
export function timeline(theme: Theme, name: string, width: number, chosen: boolean | undefined): Option | undefined {
  const found = plot(theme, name);
  if (!found || !found.lines.some((l) => l.v.some((v) => v !== null))) return undefined;
  const log = (found.canBeLog ?? false) && (chosen ?? isWide(found.lines.flatMap((l) => l.v)));
  const names = found.lines.map((l) => l.name);
  const option = base(theme, legendRows(names, width));
  // Bare lines with their dashes, or filled boxes for areas.
  const stacked = found.lines.some((l) => l.stack);
  Object.assign(option.legend as object, stacked ? { icon: "roundRect", itemWidth: 12 } : { itemStyle: { opacity: 0 } });
  Object.assign(option.tooltip as object, {
    formatter: (params: { axisValue: number; value: unknown; seriesName: string; color: unknown }[]) => {
      const t = (params[0]?.axisValue ?? 0) * unit;
      return rows(`${t.toLocaleString("en", { maximumFractionDigits: 1 })} s · ${phaseAt(t)}`, params, found.unit);
    },
  });
  return {
    ...option,
    xAxis: {
      ...valueAxis(theme, unitName),
      max: end / unit,
      nameLocation: "middle",
      nameGap: 24,
      nameTextStyle: { color: theme.soft, fontSize: 12 },
      splitLine: { show: false },
      axisLine: { show: true, lineStyle: { color: theme.soft } },
      splitNumber: width < 500 ? 4 : 10,
      // The end of the run is no round number, and its label would stand on its neighbour's.
      axisLabel: { color: theme.soft, fontSize: 11, showMaxLabel: false, formatter: (v: number) => axis(v) },
    },
    yAxis: valueAxis(theme, found.unit, log, {
      ...(found.max ? { max: found.max, interval: found.max / 4 } : {}),
      ...(found.whole ? { minInterval: 1 } : {}),
    }),
    // Its icons are off the page: dragging is switched on by `drag` in main.ts.
    toolbox: { top: -40, feature: { dataZoom: { yAxisIndex: "none", filterMode: "filter" } } },
    // Filtered, so that the vertical axis fits the visible range.
    dataZoom: [{ type: "inside", startValue: from / unit, endValue: end / unit, filterMode: "filter", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false }],
    series: series(theme, found.lines, width, log),
  };
}
