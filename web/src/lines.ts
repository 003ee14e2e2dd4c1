// Lines over a load, a rate or time, with what stands behind them: stretches that are not measured, events, limits.

import { base, below, legendRows, rows, valueAxis } from "./base";
import { data } from "./data";
import type { Area, Axis, Ground, Line, Lines, Mark, Maybe, Upright } from "./data";
import type { CustomSeriesOption, LineSeriesOption, Option } from "./echarts";
import { axis, clock, escape, three } from "./format";
import { colour, nth, symbols } from "./theme";
import type { Theme } from "./theme";

type Series = LineSeriesOption | CustomSeriesOption;

/** What the drawing of a chart depends on besides its data. */
interface Frame {
  theme: Theme;
  width: number;
  log: boolean;
  /** Values of the horizontal axis in one of its units. */
  unit: number;
}

/** `undefined` where nothing was recorded. `chosen`: a logarithmic scale, if the reader chose any. */
export function lines(theme: Theme, chart: Lines, width: number, chosen: boolean | undefined): Option | undefined {
  const drawn = chart.lines ?? [];
  const values = drawn.flatMap(({ y }) => y ?? []).filter((v): v is number => v !== null);
  if (values.length === 0) return undefined;
  const frame = { theme, width, log: chosen ?? chart.y.is_log ?? false, unit: chart.x.unit ?? 1 };
  const names = [...new Set(drawn.filter((own) => !own.is_unlisted).map(({ name }) => name ?? ""))];
  const direct = (chart.has_names_at_ends ?? false) && isDirect(names, width);
  const option = base(theme, direct ? 0 : legendRows(names, width));
  if (direct) Object.assign(option.grid as object, { right: room(names) });
  Object.assign(option.legend as object, { data: names, ...icons(drawn) });
  const ground = data.grounds[chart.ground] ?? {};
  const areas = areasOf(frame, chart.x, ground);
  const above = areas.some(([{ name, label }]) => name !== "" && label.position === "top");
  if (above) Object.assign(option.grid as object, { top: 44 });
  const all = drawn.map((line, i) => [line, series(frame, line, drawn[i - 1])] as const);
  const flat = all.flatMap(([, own]) => own);
  const tips = drawn.some((own) => own.tips)
    ? { trigger: "item", formatter: (p: unknown) => itemTip((p as { data?: { tip?: string } }).data?.tip ?? "") }
    : { formatter: (p: unknown) => axisTip(chart, ground, all.flatMap(([line, own]) => own.map(() => line)), p as Shown[]) };
  Object.assign(option.tooltip as object, tips);
  const { max } = chart.y;
  const ends = max === undefined ? (values.some((v) => v > 0) ? {} : { max: 1 }) : { max, ...(chart.is_zoomed ? { interval: max / 4 } : {}) };
  return {
    ...option,
    xAxis: xAxis(frame, chart, drawn),
    yAxis: valueAxis(theme, chart.y.name ?? "", frame.log, {
      ...(frame.log ? logEnds(values) : ends),
      ...(chart.y.is_whole ? { minInterval: 1 } : {}),
      ...(above ? { nameGap: 24 } : {}),
    }),
    ...(chart.is_zoomed ? zoom(frame, chart.x) : {}),
    series: [...(direct ? flat.map(named) : flat), behind(frame, chart, ground, areas)],
  };
}

/** A logarithmic axis ends at its decades: ECharts rounds too, but only what it takes for the extent. */
function logEnds(values: number[]): object {
  const own = values.filter((v) => v > 0);
  // A spread would pass each value as an argument, and a run has a million.
  const low = own.reduce((a, b) => Math.min(a, b), Infinity);
  const high = own.reduce((a, b) => Math.max(a, b), 0);
  return own.length === 0 ? {} : { min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(high)) };
}

function xAxis({ theme, width, unit }: Frame, { x, is_zoomed }: Lines, drawn: Line[]) {
  const ends = x.is_log ? { type: "log" as const, ...logEnds(drawn.flatMap((own) => data.columns[own.x] ?? [])) } : {};
  const time = {
    splitNumber: width < 500 ? 4 : is_zoomed ? 10 : 8,
    // The end is no round number, and its label would stand on its neighbour's.
    axisLabel: { color: theme.soft, fontSize: 11, showMaxLabel: false, formatter: (v: number) => axis(v) },
  };
  return below(theme, x.name ?? "", {
    ...ends,
    ...(x.min === undefined ? {} : { min: x.min / unit }),
    ...(x.max === undefined ? {} : { max: x.max / unit }),
    ...(x.is_whole ? { minInterval: 1 } : {}),
    ...(x.unit === undefined ? {} : time),
    ...(x.is_clock ? { axisLabel: { ...time.axisLabel, showMinLabel: false, formatter: clock }, splitNumber: 5 } : {}),
  });
}

/** Dragging zooms, see `drag` in main.ts; the icons are off the page. */
function zoom({ unit }: Frame, { from = 0, max = 0 }: Axis) {
  return {
    toolbox: { top: -40, feature: { dataZoom: { yAxisIndex: "none" as const, filterMode: "filter" as const } } },
    // Filtered, so that the vertical axis fits the visible range.
    dataZoom: [{ type: "inside" as const, startValue: from / unit, endValue: max / unit, filterMode: "filter" as const, zoomOnMouseWheel: "ctrl" as const, moveOnMouseWheel: false }],
  };
}

/** Filled boxes for areas; bare lines with their dashes where there are no marks. */
function icons(drawn: Line[]): object {
  if (drawn.some((own) => own.is_stacked)) return { icon: "roundRect", itemWidth: 12 };
  return drawn.some((own) => own.symbol !== undefined) ? {} : { itemStyle: { opacity: 0 } };
}

const shapes: Partial<Record<Mark, string>> = { mixed: "diamond", failed: "path://M0,0L10,10M10,0L0,10", above: "arrow", unmarked: "none" };

function style(theme: Theme, mark: Mark, color: string): object {
  if (mark === "hollow" || mark === "mixed") return { color: theme.page, borderColor: color, borderWidth: 2 };
  if (mark === "rimmed") return { color, borderColor: theme.text, borderWidth: 1.6 };
  // A cross has no inside: its stroke is its colour.
  return mark === "failed" ? { color: "none", borderColor: color, borderWidth: 2.5 } : { color, borderColor: color };
}

/** A line with its strokes, and the band down to the one before. */
function series(frame: Frame, line: Line, before: Line | undefined): Series[] {
  const { theme, log, unit } = frame;
  const color = colour(theme, line.color);
  // A logarithmic axis has no place for zero.
  const shown = (v: Maybe | undefined): Maybe => (v === undefined || v === null || (log && v <= 0) ? null : v);
  const points = (data.columns[line.x] ?? []).map((x, i) => {
    const value: [number, Maybe] = [x / unit, shown(line.y?.[i])];
    const [mark, tip] = [line.marks?.[i], line.tips?.[i]];
    if (!mark && !tip) return value;
    return { value, tip, ...(mark ? { itemStyle: style(theme, mark, color), ...(shapes[mark] ? { symbol: shapes[mark] } : {}) } : {}) };
  });
  const own: LineSeriesOption = {
    type: "line",
    name: line.name ?? "",
    data: points,
    // Without one the legend shows the line itself, with its dashes.
    symbol: line.symbol === undefined ? (line.is_stacked ? "emptyCircle" : "none") : nth(symbols, line.symbol),
    symbolSize: line.symbol_size || 4,
    showSymbol: line.symbol !== undefined,
    clip: !line.marks?.includes("above"),
    connectNulls: false,
    // Thins out only what is indistinguishable on screen, and keeps the extremes.
    sampling: line.symbol === undefined && !line.is_stacked ? "minmax" : undefined,
    stack: line.is_stacked ? "all" : undefined,
    lineStyle: { color, width: line.width, type: line.dash },
    itemStyle: { color, borderColor: color },
    // An area ends at zero, which a logarithmic axis does not have.
    areaStyle: line.area && !log ? { color, opacity: line.area, origin: "start" } : undefined,
    emphasis: { disabled: true },
    silent: line.is_silent,
    z: line.width > 0 ? 3 : 2,
  };
  return [own, ...(line.ranges ? [strokes(line, color, unit)] : []), ...(line.band && before ? [band(line, before, color, frame)] : [])];
}

/** From the lower end of a range to the upper. */
function strokes({ name, ranges }: Line, color: string, unit: number): CustomSeriesOption {
  return {
    type: "custom",
    name,
    data: (ranges ?? []).map(([x, low, high]) => [x / unit, low, high]),
    silent: true,
    z: 1,
    tooltip: { show: false },
    encode: { x: 0, y: [1, 2] },
    itemStyle: { color },
    renderItem: (_, api) => {
      const [x, low] = api.coord([api.value(0), api.value(1)]) as [number, number];
      const high = (api.coord([api.value(0), api.value(2)]) as [number, number])[1];
      const stroke = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line" as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: color, lineWidth: 1.5, opacity: 0.7 },
      });
      return { type: "group", children: [stroke(x, low, x, high), stroke(x - 4, low, x + 4, low), stroke(x - 4, high, x + 4, high)] };
    },
  };
}

/** The space between two lines, in one piece for each stretch without a gap. */
function band({ name, x, y, band: opacity }: Line, before: Line, color: string, { unit }: Frame): CustomSeriesOption {
  const stretches: [number, number, number][][] = [[]];
  (data.columns[x] ?? []).forEach((at, i) => {
    const [low, high] = [before.y?.[i] ?? null, y?.[i] ?? null];
    if (low === null || high === null) stretches.push([]);
    else stretches[stretches.length - 1]?.push([at / unit, low, high]);
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

type Stretch = [{ xAxis: number; name: string; itemStyle: object; label: { position: "top" | "insideTop" } }, { xAxis: number }];

/** Shaded, coloured, or only named where there is room. */
function areasOf({ theme, width, unit }: Frame, x: Axis, { areas = [] }: Ground): Stretch[] {
  const span = (x.max ?? 0) - (x.from ?? x.min ?? 0);
  const fits = ({ from, to }: Area, text: string) => ((to - from) / span) * (width - 60) > text.length * 6.5 + 4;
  return areas.flatMap((area): Stretch[] => {
    const name = area.labels?.find((text) => text !== "" && fits(area, text)) ?? "";
    const color = area.color === undefined ? undefined : colour(theme, area.color);
    if (name === "" && !color && !area.is_shaded) return [];
    const itemStyle = color ? { color, opacity: 0.16, borderColor: color, borderWidth: 1 } : { color: area.is_shaded ? theme.shade : "transparent" };
    return [[{ xAxis: area.from / unit, name, itemStyle, label: { position: area.is_inside ? "insideTop" : "top" } }, { xAxis: area.to / unit }]];
  });
}

/** Room that a name along its line needs beside that of the line before, in pixels. */
const NAME_ROOM = 15;

/** An event's text without its code. */
const sentence = (text: string): string => text.slice(text.indexOf(": ") + 2);

function uprights({ theme, width, unit }: Frame, x: Axis, marks: Upright[]) {
  const span = (x.max ?? 0) - (x.from ?? 0);
  const colors: Record<string, string> = { warning: theme.warning, error: theme.error, note: theme.soft };
  let last = -Infinity;
  return marks.map(({ at, text = "", severity }) => {
    const place = ((at - (x.from ?? 0)) / span) * width;
    const show = text !== "" && place - last >= NAME_ROOM;
    if (show) last = place;
    const type = severity === "note" ? ("dashed" as const) : ("solid" as const);
    return { xAxis: at / unit, name: text, label: { show }, lineStyle: { color: colors[severity ?? ""] ?? theme.line, type } };
  });
}

/** What stands behind the lines, as a line without points. */
function behind(frame: Frame, { x, limit }: Lines, { marks = [] }: Ground, areas: Stretch[]): LineSeriesOption {
  const { theme } = frame;
  const level = limit && {
    yAxis: limit.at,
    lineStyle: { color: theme.text, type: "dashed" as const, width: 1.4 },
    label: { show: true, formatter: limit.text, position: "insideStartTop" as const, distance: 5, color: theme.text, fontSize: 12, width: undefined },
  };
  return {
    type: "line",
    data: [],
    markArea: { silent: true, label: { distance: 3, color: theme.soft, fontSize: 11 }, data: areas },
    markLine: {
      symbol: "none",
      silent: !marks.some(({ text }) => text),
      // Along the line: upright, so that many find room.
      label: {
        position: "insideEndTop",
        distance: 2,
        color: theme.soft,
        fontSize: 10,
        width: 170,
        overflow: "truncate",
        formatter: (p) => sentence(String((p as { name?: string }).name ?? "")),
      },
      lineStyle: { width: 1, opacity: 0.9 },
      tooltip: { formatter: (p) => escape(String((p as { name?: string }).name ?? "")) },
      data: [...uprights(frame, x, marks), ...(level ? [level] : [])],
    },
  };
}

interface Shown {
  axisValue: number;
  seriesIndex: number;
  seriesType: string;
  seriesName: string;
  value: unknown;
  color: unknown;
}

/** Figures of all lines at a place of the axis; `lines` are those of the series. */
function axisTip({ x, y }: Lines, { areas = [] }: Ground, lines: Line[], params: Shown[]): string {
  const at = (params[0]?.axisValue ?? 0) * (x.unit ?? 1);
  const number = x.is_clock ? clock(at) : x.is_whole ? String(at) : x.unit === undefined ? three(at) : at.toLocaleString("en", { maximumFractionDigits: 1 });
  const around = areas.filter(({ from, to }) => from < at && at <= to).flatMap(({ title }) => title ?? []);
  // Systems at the same load have phases of the same name.
  const titles = [...new Set(around)];
  const figures = params.filter((p) => p.seriesType === "line" && !lines[p.seriesIndex]?.is_silent);
  const named = figures.map((p) => ({ ...p, seriesName: lines[p.seriesIndex]?.tip ?? p.seriesName }));
  return rows([(x.tip ?? "{}").replace("{}", number), ...titles].join(" · "), named, y.name ?? "");
}

function itemTip(text: string): string {
  const [head = "", ...rest] = text.split("\n").map(escape);
  return [`<b>${head}</b>`, ...rest].join("<br>");
}

/** What the longest name takes at the end of its line. */
const room = (names: string[]) => 24 + 7 * Math.max(...names.map((name) => name.length));

/** Names stand at the ends of lines where there is room for them, else in a legend. */
function isDirect(names: string[], width: number): boolean {
  return names.length > 1 && names.length <= 8 && room(names) <= 0.4 * width;
}

/** Each name once, at the line that is drawn last. */
function named(series: Series, i: number, all: Series[]): Series {
  const isLast = !all.slice(i + 1).some((other) => other.type === "line" && other.name === series.name);
  if (series.type !== "line" || !isLast) return series;
  const color = String(series.lineStyle?.color ?? "");
  return { ...series, endLabel: { show: true, formatter: "{a}", color, fontSize: 12, fontWeight: 600, distance: 8 } };
}
