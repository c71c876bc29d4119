/** The line of a chart, as SVG paths: pure functions of the values. */

export const WIDTH = 240;
export const HEIGHT = 48;
const MARGIN = 4;
const LEAST_POINTS = 12; // a new chart grows from the left for a minute before it is squeezed

export interface Drawing {
  line: string;
  dots: string; // values without a neighbour; a line of no length shows as a dot
  least: number;
  most: number;
}

/** Null where there is nothing to draw; `leastSpan` keeps small changes small. */
export function draw(values: (number | null)[], leastSpan: number, startsAtZero: boolean): Drawing | null {
  const known = values.filter((value) => value !== null);
  if (!known.length) return null;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const middle = (least + most) / 2;
  const span = Math.max(most - least, leastSpan);
  const bottom = startsAtZero ? 0 : middle - span / 2;
  const top = startsAtZero ? Math.max(most, leastSpan) : middle + span / 2;
  const step = WIDTH / (Math.max(values.length, LEAST_POINTS) - 1);
  let line = "";
  let dots = "";
  values.forEach((value, index) => {
    if (value === null) return;
    const y = HEIGHT - MARGIN - ((value - bottom) / (top - bottom)) * (HEIGHT - 2 * MARGIN);
    const point = `${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    const hasLeft = (values[index - 1] ?? null) !== null;
    const hasRight = (values[index + 1] ?? null) !== null;
    if (hasLeft || hasRight) line += `${hasLeft ? "L" : "M"}${point}`;
    else dots += `M${point}h0`;
  });
  return { line, dots, least, most };
}
