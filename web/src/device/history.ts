/** What the charts show: the last minutes of a few numbers, collected while the page is open. */

import type { State } from "../api/messages";

export const LEVELS = ["normal", "warm", "hot", "critical"] as const;
const POINTS = 180; // fifteen minutes, one every five seconds
const INTERVAL_MS = 5_000;

export interface Moment {
  at: number; // milliseconds since 1970
  temperature_c: number | null;
  memory_available_bytes: number | null;
  throttle: number; // in the order of LEVELS
  latency_s: number | null; // of the announcements heard since the moment before
}

/** The history with one more moment; moments closer than the interval replace each other. */
export function extended(history: Moment[], before: State | null, state: State, now: number): Moment[] {
  const moment: Moment = {
    at: now,
    temperature_c: state.temperature_c,
    memory_available_bytes: state.memory_available_bytes,
    throttle: LEVELS.indexOf(state.throttle),
    latency_s: newLatency(before, state),
  };
  const [previous, last] = history.slice(-2);
  if (last && previous && last.at - previous.at < INTERVAL_MS) {
    moment.latency_s ??= last.latency_s;
    return [...history.slice(0, -1), moment];
  }
  return [...history, moment].slice(-POINTS);
}

function newLatency(before: State | null, state: State): number | null {
  const now = state.metrics?.latency;
  const then = before?.metrics?.latency;
  if (!before || !now) return null;
  const heard = now.count - (then?.count ?? 0);
  return heard > 0 ? (now.sum_s - (then?.sum_s ?? 0)) / heard : null;
}
