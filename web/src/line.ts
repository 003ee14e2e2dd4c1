// The chart of a search: the objective's figure against the load, one line for each medium, the limit as a line.

import { base, valueAxis } from "./base";
import { data, label } from "./data";
import type { Line, Tried } from "./data";
import type { CustomSeriesOption, LineSeriesOption, Option } from "./echarts";
import { escape, three } from "./format";
import { mediumColor, nth } from "./theme";
import type { Theme } from "./theme";

// What was met and what was not differs by shape, media by colour and dashes.
const shapes = { met: "circle", mixed: "diamond", failed: "path://M0,0L10,10M10,0L0,10" } as const;
const dashes = ["solid", "dashed", "dotted"] as const;
// Above this many times the limit there is nothing to see but that it is too much.
const HIGHEST = 3;

interface Own {
  name: string;
  medium: string | null;
  line: Line;
  place: number;
}

/** The median of the repeats, sorted as they are. */
function median(figures: number[]): number | undefined {
  const last = figures.length - 1;
  const [low, high] = [figures[Math.floor(last / 2)], figures[Math.ceil(last / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

export function line(theme: Theme, step: number): Option | undefined {
  const own = data.ladders.flatMap((ladder, place): Own[] =>
    ladder.line && ladder.line.step === step && ladder.line.tried.length > 0
      ? [{ name: ladder.label, medium: ladder.medium, line: ladder.line, place }]
      : [],
  );
  const first = own[0];
  if (!first) return undefined;
  const top = ceiling(own, first.line.limit);
  const series = own.flatMap((one, i) => [curve(theme, one, i, top), beyond(theme, one, top), bars(theme, one, top)]);
  const option = base(theme, own.length < 2 ? 0 : own.length);
  Object.assign(option.legend as object, { data: own.map(({ name }) => name), orient: "vertical", itemGap: 6 });
  option.tooltip = { ...(option.tooltip as object), trigger: "item", formatter: (p: unknown) => tip(p as Shown) };
  const x = label(first.line.open ? "chart-offered" : "chart-users");
  return {
    ...option,
    xAxis: {
      ...valueAxis(theme, x, false, first.line.open ? {} : { minInterval: 1 }),
      nameLocation: "middle" as const,
      nameGap: 26,
      nameTextStyle: { color: theme.soft, fontSize: 12 },
      splitLine: { show: false },
      axisLine: { show: true, lineStyle: { color: theme.soft } },
      axisTick: { show: true, lineStyle: { color: theme.soft } },
    },
    yAxis: valueAxis(theme, label("chart-line-ms"), false, { max: top }),
    series,
  };
}

/** The top of the chart: all that was measured, or a few times the limit where that is less. */
function ceiling(own: Own[], limit: number): number {
  const highest = Math.max(limit, ...own.flatMap(({ line }) => line.tried.flatMap((tried) => tried.figures)));
  return highest > HIGHEST * limit ? HIGHEST * limit : Math.max(highest, limit) * 1.1;
}

interface Shown {
  seriesName: string;
  data?: { tried?: Tried };
}

function tip({ seriesName, data }: Shown): string {
  const tried = data?.tried;
  if (!tried) return "";
  const outcomes = { met: label("chart-met"), mixed: label("chart-mixed"), failed: label("chart-failed") };
  const all = tried.figures.map(three).join(" · ");
  const head = `<b>${three(tried.load)}</b> <span style="opacity:.7">${escape(seriesName)}</span>`;
  return `${head}<br>${escape(outcomes[tried.outcome])}<br>${label("chart-figure")}: ${three(median(tried.figures) ?? 0)} ms<br>${all} ms`;
}

/** Figures above the top leave the chart upwards: the line is cut off there, and their marks are those of `beyond`. */
function curve(theme: Theme, { name, medium, line, place }: Own, i: number, top: number): LineSeriesOption {
  const color = mediumColor(theme, data.media, medium, place);
  const styles = {
    met: { color, borderColor: color },
    mixed: { color: theme.page, borderColor: color, borderWidth: 2 },
    // A cross has no inside: its stroke is its colour.
    failed: { color: "none", borderColor: color, borderWidth: 2.5 },
  };
  const points = line.tried.flatMap((tried) => {
    const figure = median(tried.figures);
    if (figure === undefined) return [];
    const [symbol, itemStyle] = figure > top ? ["none", {}] : [shapes[tried.outcome], styles[tried.outcome]];
    return [{ value: [tried.load, figure], symbol, itemStyle, tried }];
  });
  return {
    type: "line",
    name,
    data: points,
    symbol: "circle",
    symbolSize: 10,
    showSymbol: true,
    lineStyle: { color, width: 1.6, type: nth([...dashes], i) },
    itemStyle: { color, borderColor: color },
    z: 3,
    ...(i > 0 ? {} : { markLine: limit(theme, line) }),
  };
}

/** Arrows at the upper edge for figures above it. */
function beyond(theme: Theme, { name, medium, line, place }: Own, top: number): LineSeriesOption {
  const color = mediumColor(theme, data.media, medium, place);
  const points = line.tried.flatMap((tried) => ((median(tried.figures) ?? 0) > top ? [{ value: [tried.load, top], tried }] : []));
  return {
    type: "line",
    name: `${name}  `,
    data: points,
    symbol: "arrow",
    symbolSize: 10,
    showSymbol: true,
    clip: false,
    lineStyle: { opacity: 0 },
    itemStyle: { color, borderColor: color },
    z: 4,
  };
}

function limit(theme: Theme, line: Line) {
  const text = `${label("chart-line-limit")} ${three(line.limit)} ms`;
  return {
    silent: true,
    symbol: "none" as const,
    lineStyle: { color: theme.text, type: "dashed" as const, width: 1.4 },
    label: { formatter: text, position: "insideStartTop" as const, color: theme.text, fontSize: 12 },
    data: [{ yAxis: line.limit }],
  };
}

/** From the lowest repeat to the highest. */
function bars(theme: Theme, { name, medium, line, place }: Own, top: number): CustomSeriesOption {
  const color = mediumColor(theme, data.media, medium, place);
  const values = line.tried.flatMap(({ load, figures }): [number, number, number][] => {
    const [low, high] = [figures[0], figures[figures.length - 1]];
    return low === undefined || high === undefined || low > top || low === high ? [] : [[load, low, Math.min(high, top)]];
  });
  return {
    type: "custom",
    name: `${name} `,
    data: values,
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
