// The data island, as crates/plimsoll-report/src/html/island.rs writes it.

export type Maybe = number | null;

export interface Point {
  offered: Maybe;
  users: number;
  usable: boolean;
  nopm: Maybe;
  tpm: Maybe;
  tpm_per_user: Maybe;
  rate: Maybe;
  nopm_spread: [number, number] | null;
  tpm_spread: [number, number] | null;
  rate_spread: [number, number] | null;
  latency: [string, [number, number, number]][];
}

/** One load of a search: the objective's figure of each repeat, lowest first, in ms. */
export interface Tried {
  load: number;
  outcome: "met" | "mixed" | "failed";
  figures: number[];
}

export interface Line {
  step: number;
  open: boolean;
  limit: number;
  line: Maybe;
  below: Maybe;
  tried: Tried[];
}

export interface Ladder {
  label: string;
  medium: string | null;
  points: Point[];
  line: Line | null;
}

export interface Phase {
  kind: string;
  start: number;
  end: number;
  label: string;
}

export interface Moment {
  at: number;
  severity: string;
  text: string;
}

export interface Seconds {
  t: number[];
  rates: [string, Maybe[]][];
  /** Of all together, where it is no sum of the rates: of a line that was reduced. */
  all?: Maybe[];
  p50: Maybe[];
  p95: Maybe[];
  p99: Maybe[];
  in_flight: Maybe[];
}

export interface Series {
  kind: string;
  subject: string;
  metric: string;
  times: number;
  values: Maybe[];
}

/** The 99th percentile of each second, in µs. */
export interface Lateness {
  medium: string;
  op: string;
  t: number[];
  late: Maybe[];
}

/** Median, both ends of its interval, and whether it can be used. */
export type Bar = [number, [number, number] | null, boolean];

export interface Bars {
  unit: string;
  categories: string[];
  /** By medium, then by category. */
  bars: (Bar | null)[][];
}

export interface CurvePoint {
  /** Offered, in percent of full speed; `null`: full speed itself. */
  share: Maybe;
  x: number;
  mean: Maybe;
  p99: Maybe;
  usable: boolean;
}

export interface Curve {
  unit: string;
  lines: { medium: number; points: CurvePoint[]; full: CurvePoint | null }[];
}

/** Rounds count from 1. */
export interface Rounds {
  iops: number[];
  fit: { first: number; last: number; line: [number, number]; limits: [number, number]; steady: boolean } | null;
}

/** One round or rate of a job. */
export interface Slot {
  from: number;
  measured: number;
  to: number;
  label: string;
}

/** Latencies in µs. */
export interface BlockLine {
  medium: number;
  t: number[];
  iops: Maybe[];
  mb: Maybe[];
  p50: Maybe[];
  p95: Maybe[];
  p99: Maybe[];
  max: Maybe[];
}

export interface BlockSeconds {
  slots: Slot[];
  lines: BlockLine[];
}

export interface Block {
  media: string[];
  /** As the run calls them. */
  media_ids: string[];
  bars: Bars[];
  curves: Curve[];
  rounds: Rounds[];
  seconds: BlockSeconds[];
}

export interface SharedSlot {
  from: number;
  to: number;
  measured: [number, number] | null;
  label: string;
}

/** A backup or a restore; `label` is short, `title` has all details. */
export interface SharedBand {
  from: number;
  to: number;
  restore: boolean;
  label: string;
  title: string;
}

export interface SharedLine {
  name: string;
  medium: string | null;
  /** Among what belongs to no medium. */
  place: number;
  dash: "solid" | "dashed" | "dotted";
  t: number[];
  v: Maybe[];
}

/** A medium that systems share, second by second. */
export interface Shared {
  slots: SharedSlot[];
  bands: SharedBand[];
  end: number;
  rate: SharedLine[];
  iops: SharedLine[];
  mb: SharedLine[];
  ms: SharedLine[];
}

export interface Data {
  labels: Record<string, string>;
  ladders: Ladder[];
  phases: Phase[];
  events: Moment[];
  seconds: Seconds;
  times: number[][];
  series: Series[];
  lateness: Lateness[];
  blocks: Block[];
  shared: Shared[];
  /** In the order of the plan: a medium's place is its colour. */
  media: string[];
  devices: { name: string; medium: string }[];
}

export const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as Data;

/** Whether values span more than two decades. */
export function isWide(values: Maybe[]): boolean {
  const own = values.filter((v): v is number => v !== null && v > 0);
  if (own.length === 0) return false;
  // A spread would pass each value as an argument, and a run has a million.
  const [low, high] = own.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)] as [number, number], [Infinity, 0] as [number, number]);
  return high > 100 * low;
}

export function label(id: string): string {
  return data.labels[id] ?? id;
}
