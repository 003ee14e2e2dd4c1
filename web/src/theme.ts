// Colours and type, taken from the page's styles so that charts follow light, dark and print.

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

/** The colour of what belongs to no medium, where media have theirs. */
const gray = (theme: Theme): string => nth(theme.series, theme.series.length - 1);

/** The colour of a medium, the same in all charts; of a run with fewer than two, colours distinguish lines by their place.
 * `crates/plimsoll-report/src/svg/color.rs` has the same rule. */
export function mediumColor(theme: Theme, media: string[], medium: string | null, place: number): string {
  const palette = theme.series.slice(0, -1);
  if (media.length < 2) return nth(palette, place);
  const found = medium === null ? -1 : media.indexOf(medium);
  return found < 0 ? gray(theme) : nth(palette, found);
}

/** The colour of one of several things that are no media. */
export function otherColor(theme: Theme, media: string[], place: number): string {
  return nth(theme.series.slice(0, -1), media.length < 2 ? place : media.length + place);
}

// Colour never carries a difference alone: symbols differ too.
export const symbols = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"];

export function nth<T>(list: T[], i: number): T {
  return list[i % list.length] as T;
}
