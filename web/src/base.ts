// What all charts have in common.

import type { Option } from "./echarts";
import { axis, escape, three } from "./format";
import type { Theme } from "./theme";

export const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

interface Row {
  seriesName?: string;
  color?: unknown;
  value?: unknown;
}

/** Rows of a tooltip: a colour mark, a name and a number each. Names come from the record, so they are escaped. */
export function rows(head: string, params: Row[], unit: string): string {
  const body = params.flatMap((p) => {
    const value = Array.isArray(p.value) ? p.value[1] : p.value;
    if (typeof value !== "number") return [];
    const mark = `<span style="display:inline-block;width:9px;height:9px;margin-right:6px;background:${String(p.color)}"></span>`;
    // The page has tables of its own.
    const cell = (style: string, text: string) =>
      `<td style="border:0;padding:1px 0;font-weight:400;color:inherit;${style}">${text}</td>`;
    const name = cell("text-align:left;padding-right:16px", mark + escape(p.seriesName ?? ""));
    return [`<tr>${name}${cell("text-align:right", three(value))}</tr>`];
  });
  return `<b>${escape(head)}</b> <span style="opacity:.7">${escape(unit)}</span><table style="width:auto;font-size:12px">${body.join("")}</table>`;
}

export function valueAxis(theme: Theme, name: string, log = false, extra: object = {}) {
  return {
    type: log ? ("log" as const) : ("value" as const),
    name,
    nameLocation: "end" as const,
    nameGap: 10,
    nameTextStyle: { color: theme.soft, align: "left" as const, padding: [0, 0, 0, -36], fontSize: 12 },
    // Bars that do not start at zero lie; a logarithmic axis has no zero.
    ...(log ? {} : { min: 0 }),
    axisLabel: { color: theme.soft, formatter: axis, fontSize: 11 },
    splitLine: { lineStyle: { color: theme.line } },
    splitNumber: 4,
    ...extra,
  };
}

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

export function base(theme: Theme, legendRows: number): Option {
  return {
    animation: false,
    aria: { enabled: false },
    textStyle: { fontFamily: font, color: theme.text },
    legend: {
      type: "plain",
      bottom: 0,
      left: 0,
      itemWidth: 26,
      itemHeight: 8,
      itemGap: 14,
      textStyle: { color: theme.soft, fontSize: 12 },
      show: legendRows > 0,
    },
    grid: { left: 44, right: 14, top: 28, bottom: 44 + legendRows * 20, containLabel: false },
    tooltip: {
      trigger: "axis",
      confine: true,
      backgroundColor: theme.page,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      axisPointer: { lineStyle: { color: theme.soft } },
    },
  };
}

/** How many rows a legend of these names takes at this width; ECharts does not report it. */
export function legendRows(names: string[], width: number): number {
  if (names.length < 2) return 0;
  let [rows, used] = [1, 0];
  for (const name of names) {
    const item = 32 + name.length * 6.4 + 14;
    if (used > 0 && used + item > width) [rows, used] = [rows + 1, 0];
    used += item;
  }
  return rows;
}
