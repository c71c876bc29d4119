/** The device as the page knows it: one reactive value, kept true by events and by asking now and then. */

import { reactive } from "vue";

import * as api from "../api/client";
import { ApiError } from "../api/client";
import { listen } from "../api/events";
import { isFinal, type Queue, type Result, type State, type Style, type Voice } from "../api/messages";
import { extended, type Moment } from "./history";

const ASK_INTERVAL_MS = 5_000; // heat and memory change without an event
const QUEUE_PAUSE_MS = 200; // a burst of events asks once
const VOICE_LOOK_MS = 6_000; // the daemon looks every five seconds
const RECENT = 50;
const LIVES = 100;

export const device = reactive({
  state: null as State | null,
  queue: { current: null, waiting: [] } as Queue,
  recent: [] as Result[],
  voices: [] as Voice[],
  styles: [] as Style[],
  history: [] as Moment[],
  latest: new Map<string, Result>(), // the newest result of each request since the page was opened
  lastHeard: null as Result | null,
  isConnected: false,
  needsLogin: false,
  hasLogin: false, // a login was made here, so it can be ended here
});

let stopListening: (() => void) | undefined;
let asking: ReturnType<typeof setInterval> | undefined;
let voicesTimer: ReturnType<typeof setTimeout> | undefined;
let queueTimer: ReturnType<typeof setTimeout> | undefined;

/** Fetches everything and listens from now on; `stop` ends it. */
export async function start(): Promise<void> {
  try {
    const [state, voices, styles, recent] = await Promise.all([
      api.state(),
      api.voices(),
      api.styles(),
      api.recent(RECENT),
    ]);
    Object.assign(device, { voices, styles, needsLogin: false });
    remember(recent);
    take(state);
  } catch (fault) {
    if (!noteFault(fault)) return;
  }
  stop();
  stopListening = listen({ state: take, result: hear, connected: noteConnection });
  asking = setInterval(() => void ask(), ASK_INTERVAL_MS);
}

export function stop(): void {
  stopListening?.();
  clearInterval(asking);
  clearTimeout(queueTimer);
  clearTimeout(voicesTimer);
}

/** Voices were added or removed: fetches them, and once more when the daemon has looked for them, too. */
export async function refreshVoices(): Promise<void> {
  const fetched = async () => (device.voices = await api.voices());
  await fetched();
  clearTimeout(voicesTimer);
  voicesTimer = setTimeout(() => void fetched().catch(noteFault), VOICE_LOOK_MS);
}

export async function logOut(): Promise<void> {
  await api.logout();
  stop();
  Object.assign(device, { needsLogin: true, hasLogin: false });
}

async function ask(): Promise<void> {
  if (document.hidden) return;
  try {
    take(await api.state());
    if (!device.recent.length || !device.voices.length) await catchUp();
  } catch (fault) {
    noteFault(fault);
  }
}

/** What changed while nobody listened. */
async function catchUp(): Promise<void> {
  const [recent, voices, styles] = await Promise.all([api.recent(RECENT), api.voices(), api.styles()]);
  Object.assign(device, { voices, styles });
  remember(recent);
}

/** Results that were fetched; newer ones may have been heard of while the answer was on its way. */
function remember(fetched: Result[]): void {
  const all = new Map([...fetched, ...device.recent].map((result) => [`${result.at} ${result.id}`, result]));
  device.recent = [...all.values()].sort((a, b) => b.at.localeCompare(a.at)).slice(0, RECENT);
  for (const result of device.recent.toReversed()) {
    if (result.code !== "duplicate") device.latest.set(result.id, result);
  }
}

function take(state: State): void {
  device.history = extended(device.history, device.state, state, Date.now());
  device.state = state;
  refreshQueueSoon();
}

function hear(result: Result): void {
  device.lastHeard = result;
  // A refused repetition bears the id of a request that may still be on its way.
  if (result.code !== "duplicate") {
    device.latest.delete(result.id);
    device.latest.set(result.id, result);
  }
  const oldest = device.latest.keys().next().value;
  if (device.latest.size > LIVES && oldest !== undefined) device.latest.delete(oldest);
  if (isFinal(result.event)) remember([result]);
  refreshQueueSoon();
}

function noteConnection(isConnected: boolean): void {
  const isBack = isConnected && !device.isConnected;
  device.isConnected = isConnected;
  if (isBack) catchUp().catch(noteFault);
  else if (!isConnected) void ask(); // tells whether a login is needed again
}

function refreshQueueSoon(): void {
  clearTimeout(queueTimer);
  queueTimer = setTimeout(() => {
    api
      .queue()
      .then((queue) => (device.queue = queue))
      .catch(noteFault);
  }, QUEUE_PAUSE_MS);
}

/** True where it may go away by itself, and the page goes on trying. */
function noteFault(fault: unknown): boolean {
  if (!(fault instanceof ApiError)) throw fault;
  if (fault.status === 401) {
    stop();
    device.needsLogin = true;
    return false;
  }
  device.isConnected = false;
  return true;
}
