// Charts of a ladder: a figure against users or the offered rate, one line for each step and medium.

import { base, rows, valueAxis } from "./base";
import { data, isWide, label } from "./data";
import type { Ladder, Maybe, Point } from "./data";
import type { CustomSeriesOption, LineSeriesOption, Option } from "./echarts";
import { three } from "./format";
import { mediumColor, nth, symbols } from "./theme";
import type { Theme } from "./theme";

export type Axis = "users" | "offered";

const at = (axis: Axis, point: Point) => (axis === "users" ? point.users : (point.offered ?? 0));

/** The ladders on this axis, each with its place among all, so that its colour is the same in every chart. */
function ladders(axis: Axis): { ladder: Ladder; place: number }[] {
  const all = data.ladders.map((ladder, place) => ({ ladder, place }));
  return all.filter(({ ladder }) => ladder.points.some((p) => (p.offered === null) === (axis === "users")));
}

function xAxis(theme: Theme, axis: Axis) {
  const name = label(axis === "users" ? "chart-users" : "chart-offered");
  return {
    ...valueAxis(theme, name, false, axis === "users" ? { minInterval: 1 } : {}),
    nameLocation: "middle" as const,
    nameGap: 26,
    nameTextStyle: { color: theme.soft, fontSize: 12 },
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: theme.soft } },
    axisTick: { show: true, lineStyle: { color: theme.soft } },
  };
}

/** A point that must not be used is drawn hollow. */
function mark(point: Point, x: number, y: Maybe, theme: Theme) {
  return { value: [x, y] as [number, Maybe], ...(point.usable ? {} : { itemStyle: { color: theme.page, borderWidth: 2 } }) };
}

function bars(name: string, color: string, values: [number, number, number][]): CustomSeriesOption {
  return {
    type: "custom",
    name,
    data: values,
    silent: true,
    z: 1,
    tooltip: { show: false },
    encode: { x: 0, y: [1, 2] },
    itemStyle: { color },
    renderItem: (_, api) => {
      const [x, low] = api.coord([api.value(0), api.value(1)]) as [number, number];
      const high = (api.coord([api.value(0), api.value(2)]) as [number, number])[1];
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line" as const,
        shape: { x1, y1, x2, y2 },
        style: { stroke: color, lineWidth: 1.5, opacity: 0.7 },
      });
      return {
        type: "group",
        children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)],
      };
    },
  };
}

type Figure = "nopm" | "tpm" | "rate" | "tpm_per_user";
const spreads = { nopm: "nopm_spread", tpm: "tpm_spread", rate: "rate_spread" } as const;
const units = { nopm: "chart-nopm", tpm: "chart-tpm", rate: "chart-rate", tpm_per_user: "chart-tpm-per-user" };

export function throughput(theme: Theme, figure: Figure, axis: Axis, width: number): Option {
  const own = ladders(axis);
  const series = own.flatMap(({ ladder, place }): (LineSeriesOption | CustomSeriesOption)[] => {
    const color = mediumColor(theme, data.media, ladder.medium, place);
    const line: LineSeriesOption = {
      type: "line",
      name: ladder.label,
      data: ladder.points.map((p) => mark(p, at(axis, p), p[figure], theme)),
      symbol: nth(symbols, place),
      symbolSize: 8,
      showSymbol: true,
      connectNulls: false,
      lineStyle: { color, width: 2 },
      itemStyle: { color, borderColor: color },
      z: 3,
    };
    if (figure === "tpm_per_user") return [line];
    const spread = spreads[figure];
    const values = ladder.points.flatMap((p): [number, number, number][] => {
      const half = p[spread];
      return half ? [[at(axis, p), half[0], half[1]]] : [];
    });
    return [line, bars(label("chart-spread"), color, values)];
  });
  return finish(theme, axis, width, label(units[figure]), false, own.map(({ ladder }) => ladder.label), series);
}

/** `log`: what the reader chose, if anything; else the range decides. */
export function latency(theme: Theme, txn: string, axis: Axis, chosen: boolean | undefined, width: number): Option {
  const own = ladders(axis);
  const log = chosen ?? isWide(own.flatMap(({ ladder }) => ladder.points.flatMap((p) => p.latency.filter(([name]) => name === txn).flatMap(([, values]) => values))));
  const styles = [
    ["p50", "solid"],
    ["p95", "dashed"],
    ["p99", "dotted"],
  ] as const;
  const series = own.flatMap(({ ladder, place }) =>
    styles.map(([name, type], i): LineSeriesOption => {
      const color = mediumColor(theme, data.media, ladder.medium, place);
      const values = ladder.points.map((p) => {
        const found = p.latency.find(([own]) => own === txn);
        return mark(p, at(axis, p), found?.[1][i] ?? null, theme);
      });
      return {
        type: "line",
        name: ladder.label,
        id: `${ladder.label} ${name}`,
        data: values,
        symbol: nth(symbols, place),
        symbolSize: 6,
        showSymbol: true,
        lineStyle: { color, width: 1.8, type },
        itemStyle: { color, borderColor: color },
      };
    }),
  );
  const option = finish(theme, axis, width, label("chart-latency"), log, own.map(({ ladder }) => ladder.label), series);
  const tooltip = option.tooltip as Record<string, unknown>;
  tooltip["formatter"] = (params: { seriesName: string; seriesId: string; value: unknown; axisValue: number }[]) =>
    rows(head(axis, params[0]?.axisValue), params.map((p) => ({ ...p, seriesName: p.seriesId })), label("chart-latency"));
  return option;
}

const head = (axis: Axis, value: number | undefined) =>
  `${three(value ?? 0)} ${label(axis === "users" ? "chart-users" : "chart-offered")}`;

/** What the longest name takes at the end of its line. */
const room = (names: string[]) => 24 + 7 * Math.max(...names.map((name) => name.length));

/** Names stand at the ends of lines where there is room for them, else in a legend. */
function isDirect(names: string[], width: number): boolean {
  return names.length > 1 && names.length <= 8 && room(names) <= 0.4 * width;
}

/** Each name once, at the line that is drawn last. */
function named(series: LineSeriesOption | CustomSeriesOption, i: number, all: (LineSeriesOption | CustomSeriesOption)[]): LineSeriesOption | CustomSeriesOption {
  const isLast = !all.slice(i + 1).some((other) => other.type === "line" && other.name === series.name);
  if (series.type !== "line" || !isLast) return series;
  const color = String(series.lineStyle?.color ?? "");
  return {
    ...series,
    endLabel: { show: true, formatter: "{a}", color, fontSize: 12, fontWeight: 600, distance: 8 },
  };
}

function finish(
  theme: Theme,
  axis: Axis,
  width: number,
  unit: string,
  log: boolean,
  names: string[],
  series: (LineSeriesOption | CustomSeriesOption)[],
): Option {
  const direct = isDirect(names, width);
  const option = base(theme, names.length < 2 || direct ? 0 : names.length);
  if (direct) Object.assign(option.grid as object, { right: room(names) });
  const shared = option.legend as Record<string, unknown>;
  Object.assign(shared, { data: names, orient: "vertical", itemGap: 6, itemWidth: 26 });
  Object.assign(option.tooltip as object, {
    formatter: (params: { axisValue: number; seriesType: string; seriesName: string; value: unknown; color: unknown }[]) =>
      rows(head(axis, params[0]?.axisValue), params.filter((p) => p.seriesType === "line"), unit),
  });
  return { ...option, xAxis: xAxis(theme, axis), yAxis: valueAxis(theme, unit, log), series: direct ? series.map(named) : series };
}
