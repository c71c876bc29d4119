/** Requests to the daemon; each has a deadline, and each fault is an `ApiError`. */

import type { Finding, Heard, Queue, Result, Say, Settings, State, Style, Voice } from "./messages";

const TIMEOUT_MS = 10_000;
const ENROL_TIMEOUT_MS = 180_000; // the speech tokenizer is loaded for it; on a small board that takes a minute

export class ApiError extends Error {
  constructor(
    message: string,
    readonly code: string, // as the daemon says; "unreachable" or "timeout" where it says nothing
    readonly status = 0,
    readonly findings: Finding[] = [],
  ) {
    super(message);
  }
}

export const state = () => get<State>("api/state");
export const queue = () => get<Queue>("api/queue");
export const recent = (limit: number) => get<Result[]>(`api/recent?limit=${limit}`);
export const voices = () => get<Voice[]>("api/voices");
export const styles = () => get<Style[]>("api/styles");

export const say = (body: Say) => send<{ id: string }>("POST", "api/say", body);
export const command = (verb: string, body: object = {}) => send<unknown>("POST", `api/command/${verb}`, body);
export const set = <K extends keyof Settings>(name: K, value: Settings[K]) =>
  send<unknown>("PUT", `api/settings/${name}`, { value });

export const login = (token: string) => send<unknown>("POST", "api/login", { token });
export const logout = () => send<unknown>("POST", "api/logout", {});

export function checkClip(clip: Blob, text: string): Promise<Heard> {
  return upload<Heard>(`api/voices/check?${new URLSearchParams({ text })}`, clip);
}

export function enrol(name: string, clip: Blob, query: Record<string, string>): Promise<Partial<Heard>> {
  return upload(`api/voices/${encodeURIComponent(name)}?${new URLSearchParams(query)}`, clip);
}

export const removeVoice = (name: string) => send<unknown>("DELETE", `api/voices/${encodeURIComponent(name)}`);

export async function wav(address: string): Promise<ArrayBuffer> {
  return (await answer(address, {}, TIMEOUT_MS)).arrayBuffer();
}

/** Where the browser finds a WAV file that the daemon names by its own path. */
export function outputAddress(wavPath: string): string {
  return `outputs/${encodeURIComponent(wavPath.slice(wavPath.lastIndexOf("/") + 1))}`;
}

const get = <T>(path: string) => json<T>(path, {}, TIMEOUT_MS);

function send<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return json<T>(path, { method, headers, body: body && JSON.stringify(body) }, TIMEOUT_MS);
}

function upload<T>(path: string, clip: Blob): Promise<T> {
  const headers = { "Content-Type": clip.type || "application/octet-stream" };
  return json<T>(path, { method: "POST", headers, body: clip }, ENROL_TIMEOUT_MS);
}

async function json<T>(path: string, request: RequestInit, timeoutMs: number): Promise<T> {
  const text = await (await answer(path, request, timeoutMs)).text();
  return (text ? JSON.parse(text) : {}) as T;
}

async function answer(path: string, request: RequestInit, timeoutMs: number): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...request, signal: AbortSignal.timeout(timeoutMs) });
  } catch (fault) {
    const isLate = fault instanceof DOMException && fault.name === "TimeoutError";
    throw new ApiError(String(fault), isLate ? "timeout" : "unreachable");
  }
  if (response.ok) return response;
  // A proxy in between may answer in HTML.
  const told = (await response.json().catch(() => ({}))) as { error?: string; code?: string; findings?: Finding[] };
  throw new ApiError(
    told.error ?? response.statusText,
    told.code ?? (response.status === 401 ? "unauthorized" : `http_${response.status}`),
    response.status,
    told.findings,
  );
}
