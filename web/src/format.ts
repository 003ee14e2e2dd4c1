// Numbers on axes and in tooltips; the same rules as crates/plimsoll-report/src/number.rs.

export function three(value: number): string {
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(3));
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  return rounded.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Short, for axes: 12k, 1.5M; small ones as they are. */
export function axis(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** `75` as `1:15`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
