// Charts over the time of a medium that systems share, or that backups are made of: points one after the other, backups
// and restores as bands.

import { base, legendRows, rows, valueAxis } from "./base";
import { below, logEnds } from "./block";
import { data, isWide, label } from "./data";
import type { SharedBand, SharedLine, Shared } from "./data";
import type { LineSeriesOption, Option } from "./echarts";
import { axis } from "./format";
import { mediumColor, otherColor } from "./theme";
import type { Theme } from "./theme";

/** Longer ones are counted in minutes. */
const LONG = 300;
const BACKUP = 1;
const RESTORE = 2;

interface Scale {
  unit: number;
  name: string;
}

const scale = ({ end }: Shared): Scale =>
  end > LONG ? { unit: 60, name: label("chart-shared-time-min") } : { unit: 1, name: label("chart-shared-time") };

type Area = [{ xAxis: number; name?: string; itemStyle?: object; label?: object }, { xAxis: number }];

/** Bands of several systems lie over each other; of those the first is named. */
function named(bands: SharedBand[], room: (band: SharedBand) => boolean): Set<SharedBand> {
  const found = new Set<SharedBand>();
  let last = -1;
  for (const band of bands) {
    if (band.from < last) continue;
    if (room(band)) found.add(band);
    last = band.to;
  }
  return found;
}

function marks(theme: Theme, own: Shared, { unit }: Scale, width: number): LineSeriesOption {
  const pixels = (s: number) => (s / own.end) * (width - 60);
  const known = named(own.bands, (band) => pixels(band.to - band.from) > band.label.length * 6.5 + 2);
  const bands = own.bands.map((band): Area => {
    const color = otherColor(theme, data.media, band.restore ? RESTORE : BACKUP);
    const name = known.has(band) ? band.label : "";
    return [
      { xAxis: band.from / unit, name, itemStyle: { color, opacity: 0.16, borderColor: color, borderWidth: 1 }, label: { position: "insideTop" } },
      { xAxis: band.to / unit },
    ];
  });
  const warm = own.slots.flatMap(({ from, to, measured }): Area[] =>
    measured ? [[{ xAxis: from / unit }, { xAxis: measured[0] / unit }], [{ xAxis: measured[1] / unit }, { xAxis: to / unit }]] : [],
  );
  const fits = own.slots.filter((slot) => slot.label !== "" && pixels(slot.to - slot.from) > slot.label.length * 6.5 + 4);
  const slots = fits.map((slot): Area => [
    { xAxis: slot.from / unit, name: slot.label, itemStyle: { color: "transparent" } },
    { xAxis: slot.to / unit },
  ]);
  return {
    type: "line",
    data: [],
    silent: true,
    markArea: {
      silent: true,
      itemStyle: { color: theme.shade },
      // Above the plot, where no line runs through them.
      label: { position: "top", distance: 3, color: theme.soft, fontSize: 11 },
      data: [...warm, ...bands, ...slots],
    },
    markLine: {
      silent: true,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: theme.line, width: 1, type: "solid" },
      data: own.slots.slice(1).map((slot) => ({ xAxis: slot.from / unit })),
    },
  };
}

/** Where a moment lies: its point, and the backups that run. */
function within(own: Shared, t: number): string[] {
  const slot = own.slots.find((found) => found.from < t && t <= found.to);
  const bands = own.bands.filter((band) => band.from < t && t <= band.to).map((band) => band.title);
  return [slot?.label ?? "", ...bands].filter((part) => part !== "");
}

function line(theme: Theme, { name, medium, place, dash, t, v }: SharedLine, unit: number, log: boolean): LineSeriesOption {
  const color = mediumColor(theme, data.media, medium, place);
  return {
    type: "line",
    name,
    data: t.map((at, i) => [at / unit, log && (v[i] ?? 0) <= 0 ? null : (v[i] ?? null)]),
    symbol: "none",
    connectNulls: false,
    sampling: "minmax",
    lineStyle: { color, width: 1.6, type: dash },
    itemStyle: { color },
    emphasis: { disabled: true },
    z: 3,
  };
}

const units = {
  "shared-rate": "chart-shared-rate",
  "shared-iops": "chart-shared-iops",
  "shared-mb": "chart-shared-mb",
  "shared-ms": "chart-shared-ms",
} as const;

function lines(own: Shared, kind: keyof typeof units): SharedLine[] {
  return { "shared-rate": own.rate, "shared-iops": own.iops, "shared-mb": own.mb, "shared-ms": own.ms }[kind];
}

/** `undefined` where nothing was recorded. */
export function shared(theme: Theme, kind: keyof typeof units, place: number, width: number): Option | undefined {
  const own = data.shared[place];
  const found = own ? lines(own, kind) : [];
  if (!own || found.length === 0) return undefined;
  const time = scale(own);
  const unit = label(units[kind]);
  const values = found.flatMap((l) => l.v).filter((v): v is number => v !== null && v > 0);
  // Times per request of idle and overloaded seconds lie decades apart.
  const log = kind === "shared-ms" && isWide(values) ? logEnds(values) : undefined;
  const option = base(theme, legendRows(found.map((l) => l.name), width));
  // Above the plot stand the names of points, and above them the unit.
  const names = own.slots.some((slot) => slot.label !== "");
  if (names) Object.assign(option.grid as object, { top: 44 });
  Object.assign(option.legend as object, { itemStyle: { opacity: 0 }, data: found.map((l) => l.name) });
  Object.assign(option.tooltip as object, {
    formatter: (p: unknown) => {
      const params = p as { axisValue: number; value: unknown; seriesName: string; color: unknown }[];
      const t = (params[0]?.axisValue ?? 0) * time.unit;
      const head = [`${t.toLocaleString("en", { maximumFractionDigits: 1 })} s`, ...within(own, t)];
      return rows(head.join(" · "), params, unit);
    },
  });
  return {
    ...option,
    xAxis: below(theme, time.name, {
      max: own.end / time.unit,
      splitNumber: width < 500 ? 4 : 8,
      axisLabel: { color: theme.soft, fontSize: 11, showMaxLabel: false, formatter: (v: number) => axis(v) },
    }),
    yAxis: valueAxis(theme, unit, log !== undefined, { ...(log ?? {}), ...(names ? { nameGap: 24 } : {}) }),
    series: [...found.map((l) => line(theme, l, time.unit, log !== undefined)), marks(theme, own, time, width)],
  };
}
