// Horizontal bars from zero, so that names of categories have room: a group for each category, a bar for each thing.

import { base, below, legendRows } from "./base";
import type { Bars } from "./data";
import type { CustomSeriesOption, Option } from "./echarts";
import { axis, escape, three } from "./format";
import { colour } from "./theme";
import type { Theme } from "./theme";

const BAR = 14;
const GAP = 12;

/** `undefined` where no category has a figure. */
export function bars(theme: Theme, chart: Bars, width: number): Option | undefined {
  const { categories, groups, unit } = chart;
  const all = groups.flatMap((own) => own.bars).filter((bar) => bar !== null);
  if (all.length === 0) return undefined;
  const option = base(theme, legendRows(groups.map(({ name = "" }) => name), width));
  const room = Math.min(width * 0.42, 16 + 7 * Math.max(...categories.map((name) => name.length)));
  const highest = Math.max(...all.map(({ value, range }) => Math.max(value, range?.[1] ?? 0)));
  const { bottom } = option.grid as { bottom: number };
  option.grid = { left: room, right: 52, top: 8, height: categories.length * (groups.length * BAR + GAP), bottom };
  option.tooltip = { ...(option.tooltip as object), axisPointer: { type: "shadow" }, formatter: (p: unknown) => tip(chart, (p as { dataIndex: number }[])[0]?.dataIndex ?? 0) };
  return {
    ...option,
    // Where all figures are 0 any axis will do.
    xAxis: below(theme, unit, { max: highest > 0 ? highest : 1, splitNumber: 3, splitLine: { show: true, lineStyle: { color: theme.line } }, axisLabel: { color: theme.soft, fontSize: 11, showMaxLabel: false, formatter: (v: number) => axis(v) } }),
    yAxis: {
      type: "category",
      inverse: true,
      data: categories,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: theme.soft } },
      axisLabel: { color: theme.text, fontSize: 12, interval: 0, width: room - 10, overflow: "break", lineHeight: 13 },
    },
    series: groups.map((_, place) => group(theme, chart, place)),
  };
}

function group(theme: Theme, { groups }: Bars, place: number): CustomSeriesOption {
  const { name, color: own, bars } = groups[place] as Bars["groups"][number];
  const color = colour(theme, own);
  return {
    type: "custom",
    name,
    // A category of which nothing is known has no bar.
    data: bars.map((bar, i) => [bar?.value ?? null, i, bar?.range?.[1] ?? null]),
    encode: { x: [0, 2], y: 1 },
    itemStyle: { color },
    renderItem: (_, api) => {
      const category = api.value(1) as number;
      const bar = bars[category];
      if (!bar) return undefined;
      const { value, range, flaw } = bar;
      const at = (v: number) => (api.coord([v, category]) as [number, number])[0];
      const [x, middle] = api.coord([value, category]) as [number, number];
      const y = middle + (place - (groups.length - 1) / 2) * BAR;
      const [low, end] = range ? [at(range[0]), at(range[1])] : [x, x];
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line" as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: theme.text, lineWidth: 1.2 },
      });
      const whisker = range ? [line(low, y, end, y), line(low, y - 3, low, y + 3), line(end, y - 3, end, y + 3)] : [];
      const half = BAR / 2 - 1.5;
      return {
        type: "group",
        children: [
          {
            type: "rect" as const,
            shape: { x: at(0), y: y - half, width: Math.max(x - at(0), 0.5), height: 2 * half },
            style: flaw ? { fill: "none", stroke: color, lineWidth: 1.5, lineDash: [3, 2] } : { fill: color },
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

function tip({ categories, groups, unit }: Bars, i: number): string {
  const lines = groups.flatMap(({ name, bars }) => {
    const bar = bars[i];
    if (!bar) return [];
    const range = bar.range ? ` (${bar.range.map(three).join(" – ")})` : "";
    return [`${escape(name ?? "")}: <b>${three(bar.value)}</b>${range}${bar.flaw ? ` · ${escape(bar.flaw)}` : ""}`];
  });
  return `<b>${escape(categories[i] ?? "")}</b> <span style="opacity:.7">${escape(unit)}</span><br>${lines.join("<br>")}`;
}
