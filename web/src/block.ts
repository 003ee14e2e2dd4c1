// Charts of block I/O: bars of jobs, latency against throughput, rounds until steady.

import { base, rows, valueAxis } from "./base";
import { data, isWide, label } from "./data";
import type { Bars, Block, Curve, CurvePoint, Rounds } from "./data";
import type { CustomSeriesOption, LineSeriesOption, Option } from "./echarts";
import { axis, escape, three } from "./format";
import { mediumColor, nth, symbols } from "./theme";
import type { Theme } from "./theme";

/** A horizontal axis with its name below its middle. */
export function below(theme: Theme, name: string, extra: object = {}) {
  return {
    ...valueAxis(theme, name),
    nameLocation: "middle" as const,
    nameGap: 26,
    nameTextStyle: { color: theme.soft, fontSize: 12 },
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: theme.soft } },
    axisTick: { show: true, lineStyle: { color: theme.soft } },
    // The largest value need not be round, and its label would stand on its neighbour's.
    axisLabel: { color: theme.soft, fontSize: 11, hideOverlap: true, formatter: (v: number) => axis(v) },
    ...extra,
  };
}

/** A legend of media, one below the other; none for one. */
export function legend(theme: Theme, names: string[]): Option {
  const rows = names.length < 2 ? 0 : names.length;
  const option = base(theme, rows);
  Object.assign(option.legend as object, { data: names, orient: "vertical", itemGap: 6 });
  Object.assign(option.grid as object, { bottom: 46 + rows * 17 });
  return option;
}

const BAR = 14;
const GAP = 12;

/** Horizontal bars from zero, so that names of jobs have room: one group for each category, one bar for each medium. */
function bars(theme: Theme, block: Block, bars: Bars, width: number): Option {
  const names = block.media;
  const option = legend(theme, names);
  const room = Math.min(width * 0.42, 16 + 7 * Math.max(...bars.categories.map((name) => name.length)));
  const group = names.length * BAR + GAP;
  const highest = Math.max(...bars.bars.flat().map((bar) => Math.max(bar?.[0] ?? 0, bar?.[1]?.[1] ?? 0)));
  const plot = bars.categories.length * group;
  const bottom = (option.grid as { bottom: number }).bottom;
  option.grid = { left: room, right: 52, top: 8, height: plot, bottom };
  option.tooltip = { ...(option.tooltip as object), trigger: "axis", axisPointer: { type: "shadow" }, formatter: (p: unknown) => tip(bars, block, (p as { dataIndex: number }[])[0]?.dataIndex ?? 0) };
  return {
    ...option,
    // Without a figure there is no highest: any axis will do.
    xAxis: below(theme, label(bars.unit), { max: highest > 0 ? highest : 1, splitNumber: 3, splitLine: { show: true, lineStyle: { color: theme.line } }, axisLabel: { color: theme.soft, fontSize: 11, showMaxLabel: false, formatter: (v: number) => axis(v) } }),
    yAxis: {
      type: "category",
      inverse: true,
      data: bars.categories,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: theme.soft } },
      axisLabel: { color: theme.text, fontSize: 12, interval: 0, width: room - 10, overflow: "break", lineHeight: 13 },
    },
    series: names.map((_, place) => barsOf(theme, block, place, bars)),
  };
}

function barsOf(theme: Theme, block: Block, place: number, { bars }: Bars): CustomSeriesOption {
  const media = block.media.length;
  const name = block.media[place] ?? "";
  const color = blockColor(theme, block, place);
  const own = bars[place] ?? [];
  return {
    type: "custom",
    name,
    // A category of which nothing is known has no bar.
    data: own.map((bar, i) => [bar?.[0] ?? null, i, bar?.[1]?.[1] ?? null]),
    encode: { x: [0, 2], y: 1 },
    itemStyle: { color },
    renderItem: (_, api) => {
      const category = api.value(1) as number;
      const bar = own[category];
      if (!bar) return undefined;
      const [value, interval, usable] = bar;
      const [x, middle] = api.coord([value, category]) as [number, number];
      const zero = (api.coord([0, category]) as [number, number])[0];
      const y = middle + (place - (media - 1) / 2) * BAR;
      const end = interval ? (api.coord([interval[1], category]) as [number, number])[0] : x;
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line" as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: theme.text, lineWidth: 1.2 },
      });
      const low = interval ? (api.coord([interval[0], category]) as [number, number])[0] : x;
      const whisker = interval ? [line(low, y, end, y), line(low, y - 3, low, y + 3), line(end, y - 3, end, y + 3)] : [];
      const half = BAR / 2 - 1.5;
      return {
        type: "group",
        children: [
          {
            type: "rect" as const,
            shape: { x: zero, y: y - half, width: Math.max(x - zero, 0.5), height: 2 * half },
            style: usable ? { fill: color } : { fill: "none", stroke: color, lineWidth: 1.5, lineDash: [3, 2] },
          },
          ...whisker,
          {
            type: "text" as const,
            style: { text: three(value), x: Math.max(x, end) + 5, y, fill: theme.soft, fontSize: 11, verticalAlign: "middle" as const },
          },
        ],
      };
    },
  };
}

function tip({ categories, bars, unit }: Bars, block: Block, i: number): string {
  const lines = block.media.flatMap((name, place) => {
    const bar = bars[place]?.[i];
    if (!bar) return [];
    const [value, interval, usable] = bar;
    const range = interval ? ` (${three(interval[0])} – ${three(interval[1])})` : "";
    return [`${escape(name)}: <b>${three(value)}</b>${range}${usable ? "" : ` · ${label("chart-block-invalid")}`}`];
  });
  return `<b>${escape(categories[i] ?? "")}</b> <span style="opacity:.7">${label(unit)}</span><br>${lines.join("<br>")}`;
}

/** The colour of one of the block's media. */
export function blockColor(theme: Theme, block: Block, place: number): string {
  return mediumColor(theme, data.media, block.media_ids[place] ?? null, place);
}

/** Ends of a logarithmic axis on its decades; ECharts rounds too, but only what it takes for the extent. */
export function logEnds(values: number[]): object {
  const own = values.filter((v) => v > 0);
  return { min: 10 ** Math.floor(Math.log10(Math.min(...own))), max: 10 ** Math.ceil(Math.log10(Math.max(...own))) };
}

const figures = [
  ["mean", "chart-block-mean", "solid"],
  ["p99", "chart-block-p99", "dashed"],
] as const;

function curve(theme: Theme, block: Block, { unit, lines }: Curve): Option {
  const all = lines.flatMap((l) => [...l.points, ...(l.full ? [l.full] : [])]).flatMap((p) => [p.mean, p.p99]);
  const values = all.filter((v) => v !== null);
  const log = isWide(values);
  const names = lines.map((l) => block.media[l.medium] ?? "");
  const option = legend(theme, names);
  // Media far apart would leave the slow ones at the edge.
  const speeds = lines.map((l) => Math.max(l.full?.x ?? 0, ...l.points.map((p) => p.x)));
  const places = lines.flatMap((l) => [...l.points, ...(l.full ? [l.full] : [])]).map((p) => p.x);
  const far = isWide(speeds);
  const series = lines.flatMap((own): LineSeriesOption[] => {
    const color = blockColor(theme, block, own.medium);
    const name = block.media[own.medium] ?? "";
    const mark = (p: CurvePoint, figure: "mean" | "p99") => ({
      value: [p.x, p[figure]] as [number, number | null],
      share: p.share,
      ...(p.usable ? {} : { itemStyle: { color: theme.page, borderColor: color, borderWidth: 2 } }),
    });
    return figures.flatMap(([figure, id, type]): LineSeriesOption[] => [
      {
        type: "line",
        name,
        id: `${own.medium} ${figure}`,
        data: own.points.map((p) => mark(p, figure)),
        symbol: nth(symbols, own.medium),
        symbolSize: 6,
        showSymbol: true,
        lineStyle: { color, width: 1.8, type },
        itemStyle: { color, borderColor: color },
        z: 3,
        tooltip: { formatter: (p: unknown) => at(p as Shown, name, label(id), unit) },
      },
      {
        type: "line",
        name: `${name} `,
        id: `${own.medium} ${figure} full`,
        data: own.full ? [mark(own.full, figure)] : [],
        symbol: nth(symbols, own.medium),
        symbolSize: 13,
        showSymbol: true,
        itemStyle: { color, borderColor: theme.text, borderWidth: 1.6 },
        // Beneath the curve, whose own marks may be hollow.
        z: 2,
        tooltip: { formatter: (p: unknown) => at(p as Shown, name, label(id), unit) },
      },
    ]);
  });
  option.tooltip = { ...(option.tooltip as object), trigger: "item" };
  return {
    ...option,
    xAxis: below(theme, label(unit), far ? { type: "log" as const, ...logEnds(places) } : {}),
    yAxis: valueAxis(theme, label("chart-block-us"), log, log ? logEnds(values) : {}),
    series,
  };
}

interface Shown {
  value: [number, number];
  data?: { share?: number | null };
}

function at({ value, data }: Shown, medium: string, figure: string, unit: string): string {
  const share = data?.share ?? null;
  const offered = share === null ? label("chart-block-full") : `${three(share)} % ${label("chart-block-offered")}`;
  return `<b>${escape(medium)}</b> <span style="opacity:.7">${offered}</span><br>${three(value[0])} ${label(unit)}<br>${figure}: ${three(value[1])} µs`;
}

/** IOPS by round; the last window shaded, with the line through it and the range allowed. */
function rounds(theme: Theme, block: Block, { iops, fit }: Rounds, medium: number): Option {
  const color = blockColor(theme, block, medium);
  const option = base(theme, 0);
  const line = (name: string, points: [number, number][], style: object): LineSeriesOption => ({
    type: "line",
    name,
    data: points,
    symbol: "none",
    silent: true,
    lineStyle: { color: theme.text, width: 1.4, ...style },
    itemStyle: { color: theme.text },
    tooltip: { show: false },
  });
  const window = fit ? ([fit.first, fit.last] as const) : undefined;
  const across = (y: number): [number, number][] => (window ? [[window[0], y], [window[1], y]] : []);
  const series: LineSeriesOption[] = [
    {
      type: "line",
      name: label("chart-block-iops"),
      data: iops.map((v, i) => [i + 1, v]),
      symbol: nth(symbols, medium),
      symbolSize: 7,
      showSymbol: true,
      lineStyle: { color, width: 1.8 },
      itemStyle: { color },
      z: 3,
      ...(window ? { markArea: { silent: true, itemStyle: { color: theme.shade }, data: [[{ xAxis: window[0] }, { xAxis: window[1] }]] } } : {}),
    },
    ...(fit
      ? [
          line(label("chart-block-fit"), [[fit.first, fit.line[0]], [fit.last, fit.line[1]]], { type: "solid" }),
          ...fit.limits.map((limit) => line(label("chart-block-limits"), across(limit), { type: "dotted" })),
        ]
      : []),
  ];
  option.tooltip = {
    ...(option.tooltip as object),
    formatter: (p: unknown) => {
      const own = (p as { axisValue: number; seriesName: string; value: unknown; color: unknown }[]).filter((s) => s.seriesName === label("chart-block-iops"));
      return rows(`${label("chart-block-round")} ${own[0]?.axisValue ?? ""}`, own, "");
    },
  };
  const top = Math.max(...iops, ...(fit ? [...fit.limits, ...fit.line] : []));
  return {
    ...option,
    xAxis: below(theme, label("chart-block-round"), { min: 1, max: Math.max(iops.length, 2), minInterval: 1 }),
    // From zero: the criterion is a share of the mean, and no scatter may appear larger than it is.
    yAxis: valueAxis(theme, label("chart-block-iops"), false, top > 0 ? {} : { max: 1 }),
    series,
  };
}

/** `undefined` where nothing was recorded. */
export function blockChart(theme: Theme, kind: string, own: DOMStringMap, width: number): Option | undefined {
  const block = data.blocks[Number(own["block"])];
  const place = Number(own["place"]);
  if (!block) return undefined;
  const [ofBars, ofCurve, ofRounds] = [block.bars[place], block.curves[place], block.rounds[place]];
  switch (kind) {
    case "block-bars":
      return ofBars?.bars.flat().some((bar) => bar) ? bars(theme, block, ofBars, width) : undefined;
    case "block-curve":
      return ofCurve && curve(theme, block, ofCurve);
    case "block-rounds":
      return ofRounds && ofRounds.iops.length > 0 ? rounds(theme, block, ofRounds, Number(own["medium"])) : undefined;
    default:
      return undefined;
  }
}
