// Colours and type, taken from the page's styles so that charts follow light, dark and print.

import type { Colour } from "./data";

export interface Theme {
  text: string;
  soft: string;
  line: string;
  page: string;
  shade: string;
  warning: string;
  error: string;
  series: string[];
}

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: of("--text"),
    soft: of("--soft"),
    line: of("--line"),
    page: of("--page"),
    shade: of("--shade"),
    warning: of("--doubtful"),
    error: of("--invalid"),
    series: ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"].map(of),
  };
}

export function colour(theme: Theme, of: Colour): string {
  const palette = theme.series.slice(0, -1);
  if (of === "text") return theme.text;
  return of === "gray" ? nth(theme.series, palette.length) : nth(palette, of);
}

// Colour never carries a difference alone: symbols differ too.
export const symbols = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"];

export function nth<T>(list: T[], i: number): T {
  return list[i % list.length] as T;
}
