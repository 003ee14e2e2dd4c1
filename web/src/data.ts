// The data island, as crates/plimsoll-report/src/chart/island.rs writes it. What is not set is left out.

export type Maybe = number | null;

/** A place in the palette; what belongs to no medium is gray where media have colours. */
export type Colour = number | "gray" | "text";

export interface Axis {
  name?: string;
  /** So many of the lines' values are one on the axis. */
  unit?: number;
  min?: number;
  max?: number;
  /** What is shown first, where that is not all. */
  from?: number;
  is_whole?: boolean;
  is_log?: boolean;
  /** Seconds, shown as `1:15`. */
  is_clock?: boolean;
  /** Of readers who choose the scale. */
  switch?: string;
  /** Before the figures of a tooltip: `{}` stands for the value. */
  tip?: string;
}

export type Mark = "full" | "rimmed" | "hollow" | "mixed" | "failed" | "above" | "unmarked";

export interface Line {
  name?: string;
  /** In tooltips, where that is not the name. */
  tip?: string;
  color: Colour;
  dash: "solid" | "dashed" | "dotted";
  width: number;
  /** A place in the list of shapes; without one there is the line alone. */
  symbol?: number;
  symbol_size: number;
  /** Into the columns. */
  x: number;
  y?: Maybe[];
  marks?: Mark[];
  /** Of each point, where points have tooltips of their own. */
  tips?: string[];
  /** A point of the horizontal axis, and the ends of an upright stroke. */
  ranges?: [number, number, number][];
  is_stacked?: boolean;
  /** Opacity of the area below it. */
  area?: number;
  /** Opacity of the area down to the line before. */
  band?: number;
  is_silent?: boolean;
  is_unlisted?: boolean;
}

export interface Lines {
  kind: "lines";
  x: Axis;
  y: Axis;
  lines?: Line[];
  /** Into the grounds. */
  ground: number;
  limit?: { at: number; text: string };
  is_zoomed?: boolean;
  has_names_at_ends?: boolean;
}

/** A stretch of the horizontal axis. */
export interface Area {
  from: number;
  to: number;
  /** The first that has room is shown. */
  labels?: string[];
  /** In tooltips. */
  title?: string;
  is_shaded?: boolean;
  color?: Colour;
  is_inside?: boolean;
}

/** An upright line. */
export interface Upright {
  at: number;
  text?: string;
  severity?: "note" | "warning" | "error";
}

export interface Ground {
  areas?: Area[];
  marks?: Upright[];
}

export interface Bar {
  value: number;
  range?: [number, number];
  /** Why it must not be used. */
  flaw?: string;
}

export interface Bars {
  kind: "bars";
  unit: string;
  categories: string[];
  /** A bar for each category. */
  groups: { name?: string; color: Colour; bars: (Bar | null)[] }[];
}

interface Data {
  labels: Record<string, string>;
  charts: (Lines | Bars)[];
  grounds: Ground[];
  columns: number[][];
}

export const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as Data;

export function label(id: string): string {
  return data.labels[id] ?? id;
}
