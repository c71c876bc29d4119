/** The daemon's messages: what it publishes over MQTT, in the same words. */

export type Event = "accepted" | "started" | "finished" | "failed" | "expired" | "cancelled" | "rejected";
export const PRIORITIES = ["important", "message", "text", "notification", "progress"] as const;
export type Priority = (typeof PRIORITIES)[number];

export interface Result {
  id: string;
  event: Event;
  code: string | null;
  message: string | null;
  text: string | null;
  voice: string | null;
  style: string | null;
  engine: string | null;
  wav_path: string | null;
  duration_s: number | null;
  sample_rate_hz: number | null;
  cached: boolean | null;
  rtf: number | null;
  degraded?: string[];
  at: string;
}

export interface Latency {
  count: number;
  sum_s: number;
  p50_s: number;
  p95_s: number;
}

export interface Report {
  results: Record<string, number>;
  success_rate: number | null;
  latency: Latency | null;
  cache_hit_rate: number | null;
  rtf_median: number | null;
}

export interface Settings {
  volume: number;
  voice: string;
  style: string;
  do_not_disturb: boolean;
}

export interface State {
  status: "starting" | "idle" | "speaking" | "paused" | "stopping";
  queue_length: number;
  speaking_id: string | null;
  engine: string;
  throttle: "normal" | "warm" | "hot" | "critical";
  throttle_reason: string | null;
  temperature_c: number | null;
  undervoltage: boolean | null;
  memory_available_bytes: number | null;
  disk_free_bytes: number | null;
  worker_rss_bytes: number;
  outputs_bytes: number;
  uptime_s: number;
  version: string;
  problems: string[];
  metrics: Report | null;
  last: Result | null;
  settings: Settings;
  paused: boolean;
}

export interface Waiting {
  id: string;
  text: string;
  priority: Priority;
  voice: string | null;
  style: string;
  accepted_at: string;
}

export interface Queue {
  current: Waiting | null;
  waiting: Waiting[];
}

export interface Voice {
  name: string;
  engine: string;
  languages: string[];
  gender: string;
  description?: string;
}

export interface Style {
  name: string;
  label: string;
  label_zh: string;
}

export interface Say {
  text: string;
  voice?: string;
  style?: string;
  speed?: number;
  seed?: number;
  priority?: Priority;
  output?: "speaker" | "file" | "both";
}

export interface Finding {
  check?: string;
  level: "ok" | "note" | "problem";
  what: string;
  do: string | null;
}

export interface Heard {
  findings: Finding[];
}

export function isFinal(event: Event): boolean {
  return event !== "accepted" && event !== "started";
}
