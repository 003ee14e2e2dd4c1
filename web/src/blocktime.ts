// Charts of block I/O over the time of a job: rounds and rates one after the other, percentiles as bands.

import { base, rows, valueAxis } from "./base";
import { below, blockColor, legend, logEnds } from "./block";
import { data, isWide, label } from "./data";
import type { Block, BlockLine, BlockSeconds, Maybe, Slot } from "./data";
import type { CustomSeriesOption, LineSeriesOption, Option } from "./echarts";
import { axis } from "./format";
import { nth } from "./theme";
import type { Theme } from "./theme";

// Media differ by dashes too.
const dashes = ["solid", "dashed", "dotted"] as const;
/** Longer jobs are counted in minutes. */
const LONG = 300;

interface Scale {
  unit: number;
  name: string;
  end: number;
}

function scale({ slots }: BlockSeconds): Scale {
  const end = slots.reduce((last, slot) => Math.max(last, slot.to), 0);
  return end > LONG ? { unit: 60, name: label("chart-block-job-time-min"), end } : { unit: 1, name: label("chart-block-job-time"), end };
}

type Area = [{ xAxis: number; name?: string; itemStyle?: { color: string } }, { xAxis: number }];

/** Warm-up is shaded; rounds and rates are named where there is room, and end at an upright line. */
function marks(theme: Theme, { slots }: BlockSeconds, { unit, end }: Scale, width: number): LineSeriesOption {
  const fits = (slot: Slot, text: string) => ((slot.to - slot.from) / end) * (width - 60) > text.length * 6.5 + 4;
  // Where there is no room for round and rate, the rate alone is named.
  const named = (slot: Slot) => [slot.label, slot.label.replace(/^#\d+ /, "")].find((text) => fits(slot, text)) ?? "";
  const warm = slots.filter((slot) => slot.measured > slot.from);
  const areas: Area[] = [
    ...warm.map((slot): Area => [{ xAxis: slot.from / unit }, { xAxis: slot.measured / unit }]),
    ...slots.filter((slot) => named(slot) !== "").map((slot): Area => [
      { xAxis: slot.from / unit, name: named(slot), itemStyle: { color: "transparent" } },
      { xAxis: slot.to / unit },
    ]),
  ];
  return {
    type: "line",
    data: [],
    silent: true,
    markArea: {
      silent: true,
      itemStyle: { color: theme.shade },
      // Above the plot, where no line runs through them.
      label: { position: "top", distance: 3, color: theme.soft, fontSize: 11 },
      data: areas,
    },
    markLine: {
      silent: true,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: theme.line, width: 1, type: "solid" },
      data: slots.slice(1).map((slot) => ({ xAxis: slot.from / unit })),
    },
  };
}

function within({ slots }: BlockSeconds, t: number): string {
  return slots.find((slot) => slot.from < t && t <= slot.to)?.label ?? "";
}

function finish(theme: Theme, own: BlockSeconds, found: Option, unit: string, log: object | undefined, width: number, series: (LineSeriesOption | CustomSeriesOption)[]): Option {
  const time = scale(own);
  Object.assign(found.tooltip as object, {
    formatter: (p: unknown) => {
      const params = p as { axisValue: number; seriesType: string; seriesName: string; value: unknown; color: unknown }[];
      const t = (params[0]?.axisValue ?? 0) * time.unit;
      const head = [`${t.toLocaleString("en", { maximumFractionDigits: 1 })} s`, within(own, t)].filter((part) => part !== "");
      return rows(head.join(" · "), params.filter((row) => row.seriesType === "line"), unit);
    },
  });
  return {
    ...found,
    xAxis: below(theme, time.name, {
      max: time.end / time.unit,
      splitNumber: width < 500 ? 4 : 8,
      axisLabel: { color: theme.soft, fontSize: 11, showMaxLabel: false, formatter: (v: number) => axis(v) },
    }),
    yAxis: valueAxis(theme, unit, log !== undefined, log ?? {}),
    series: [...series, marks(theme, own, time, width)],
  };
}

const pairs = (t: number[], v: Maybe[], unit: number) => t.map((at, i) => [at / unit, v[i] ?? null]);

function rates(theme: Theme, block: Block, own: BlockSeconds, figure: "iops" | "mb", width: number, wanted: boolean): Option {
  const { unit } = scale(own);
  const values = own.lines.flatMap((l) => l[figure]).filter((v): v is number => v !== null && v > 0);
  const log = wanted && values.length > 0;
  const option = legend(theme, own.lines.map((l) => block.media[l.medium] ?? ""));
  Object.assign(option.legend as object, { itemStyle: { opacity: 0 } });
  const series = own.lines.map((l): LineSeriesOption => {
    const color = blockColor(theme, block, l.medium);
    return {
      type: "line",
      name: block.media[l.medium] ?? "",
      data: pairs(l.t, log ? l[figure].map((v) => (v === 0 ? null : v)) : l[figure], unit),
      symbol: "none",
      connectNulls: false,
      sampling: "minmax",
      lineStyle: { color, width: 1.6, type: nth([...dashes], l.medium) },
      itemStyle: { color },
      z: 3,
    };
  });
  return finish(theme, own, option, label(figure === "iops" ? "chart-block-iops" : "chart-block-mb"), log ? logEnds(values) : undefined, width, series);
}

/** The space between two percentiles, in one piece for each stretch without a gap. */
function band(name: string, color: string, opacity: number, l: BlockLine, from: Maybe[], to: Maybe[], unit: number): CustomSeriesOption {
  const stretches: [number, number, number][][] = [[]];
  l.t.forEach((t, i) => {
    const [low, high] = [from[i] ?? null, to[i] ?? null];
    if (low === null || high === null) stretches.push([]);
    else stretches[stretches.length - 1]?.push([t / unit, low, high]);
  });
  const own = stretches.filter((stretch) => stretch.length > 1);
  return {
    type: "custom",
    name,
    silent: true,
    z: 2,
    data: own.map((_, i) => [own[i]?.[0]?.[0] ?? 0, i]),
    encode: { x: 0, y: [] },
    tooltip: { show: false },
    itemStyle: { color },
    renderItem: (params, api) => {
      const at = (x: number, y: number) => api.coord([x, y]) as [number, number];
      const stretch = own[params.dataIndex] ?? [];
      const points = [...stretch.map(([x, low]) => at(x, low)), ...stretch.map(([x, , high]) => at(x, high)).reverse()];
      return { type: "polygon", shape: { points }, style: { fill: color, opacity } };
    },
  };
}

function latencies(theme: Theme, block: Block, own: BlockSeconds, medium: number, width: number): Option | undefined {
  const l = own.lines.find((line) => line.medium === medium);
  const values = l ? [...l.p50, ...l.p95, ...l.p99, ...l.max].filter((v) => v !== null) : [];
  if (!l || values.length === 0) return undefined;
  const { unit } = scale(own);
  const color = blockColor(theme, block, medium);
  const log = isWide(values) ? logEnds(values) : undefined;
  const line = (name: string, v: Maybe[], style: object): LineSeriesOption => ({
    type: "line",
    name,
    data: pairs(l.t, v, unit),
    symbol: "none",
    connectNulls: false,
    lineStyle: { color, ...style },
    itemStyle: { color },
    z: 3,
  });
  const series = [
    band("p95", color, 0.42, l, l.p50, l.p95, unit),
    band("p99", color, 0.2, l, l.p95, l.p99, unit),
    line("p50", l.p50, { width: 1.8 }),
    line("p95", l.p95, { width: 0.8, opacity: 0.8 }),
    line("p99", l.p99, { width: 0.8, opacity: 0.6 }),
    { ...line(label("chart-block-max"), l.max, { width: 0 }), symbol: "circle", symbolSize: 3, showSymbol: true } as LineSeriesOption,
  ];
  return finish(theme, own, base(theme, 0), label("chart-block-us"), log, width, series);
}

/** `undefined` where nothing was recorded. */
export function blockTime(theme: Theme, kind: string, box: DOMStringMap, width: number, log: boolean): Option | undefined {
  const block = data.blocks[Number(box["block"])];
  const own = block?.seconds[Number(box["place"])];
  if (!block || !own) return undefined;
  switch (kind) {
    case "block-iops-time":
      return rates(theme, block, own, "iops", width, log);
    case "block-mb-time":
      return rates(theme, block, own, "mb", width, log);
    default:
      return latencies(theme, block, own, Number(box["medium"]), width);
  }
}
