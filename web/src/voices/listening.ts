/** The checks of cosyvoice/voices, as far as they can be made while somebody speaks; the daemon's count. */

import type { Words } from "../language/language";
import bounds from "./bounds.json";

const FRAME_S = 0.02;
const SILENCE_DB = -100;
const LOUDEST_FRAMES = 100; // two seconds
const NOISE_RANK = 0.05;
const BELOW_SPEECH_DB = 32; // weak consonants lie so far under vowels
const ABOVE_NOISE_DB = 8;
const TOP = 0.999;
const LEAST_S = 1; // before that, nothing can be told of noise and level

export interface Heard {
  levelsDb: number[]; // frame by frame
  samples: number;
  cutOff: number; // samples at full scale
  now: number; // peak of the newest block, 0 to 1
}

export interface LiveCheck {
  check: "length" | "level" | "clipping" | "noise";
  level: "ok" | "note" | "problem" | "waiting";
  says: keyof Words["live"];
}

export const nothingHeard: Heard = { levelsDb: [], samples: 0, cutOff: 0, now: 0 };

/** What was heard, with one more block. */
export function heardMore(heard: Heard, block: Float32Array, sampleRateHz: number): Heard {
  const frame = Math.round(FRAME_S * sampleRateHz);
  const levelsDb = [...heard.levelsDb];
  for (let at = 0; at + frame <= block.length; at += frame) levelsDb.push(levelDb(block.subarray(at, at + frame)));
  const magnitudes = block.map(Math.abs);
  return {
    levelsDb,
    samples: heard.samples + block.length,
    cutOff: heard.cutOff + magnitudes.filter((magnitude) => magnitude >= TOP).length,
    now: magnitudes.reduce((most, magnitude) => Math.max(most, magnitude), 0),
  };
}

/** What can be said of it so far. */
export function judge(heard: Heard, sampleRateHz: number): LiveCheck[] {
  const sorted = heard.levelsDb.toSorted((a, b) => a - b);
  const noiseDb = sorted[Math.floor(NOISE_RANK * sorted.length)] ?? SILENCE_DB;
  const loudest = sorted.slice(-LOUDEST_FRAMES);
  const speechDb = loudest[Math.floor(loudest.length / 2)] ?? SILENCE_DB;
  const isSilent = speechDb < bounds.level_problem_db;
  const isLongEnough = heard.samples >= LEAST_S * sampleRateHz;
  const speech_s = isSilent ? 0 : spoken_s(heard, noiseDb, speechDb, sampleRateHz);
  return [
    length(speech_s, isSilent),
    level(speechDb, isLongEnough),
    clipping(heard),
    noise(speechDb - noiseDb, isLongEnough && !isSilent),
  ];
}

function length(speech_s: number, isSilent: boolean): LiveCheck {
  if (isSilent) return { check: "length", level: "waiting", says: "silent" };
  if (speech_s < bounds.min_prompt_s) return { check: "length", level: "waiting", says: "tooShort" };
  if (speech_s > bounds.max_prompt_s) return { check: "length", level: "note", says: "tooLong" };
  return { check: "length", level: "ok", says: "goodLength" };
}

function level(speechDb: number, canTell: boolean): LiveCheck {
  if (!canTell) return { check: "level", level: "waiting", says: "waiting" };
  if (speechDb >= bounds.level_note_db) return { check: "level", level: "ok", says: "goodLevel" };
  return { check: "level", level: speechDb < bounds.level_problem_db ? "problem" : "note", says: "quiet" };
}

function clipping(heard: Heard): LiveCheck {
  const part = heard.samples ? heard.cutOff / heard.samples : 0;
  if (part < bounds.clipped_note) return { check: "clipping", level: "ok", says: "noPeaks" };
  return { check: "clipping", level: part >= bounds.clipped_problem ? "problem" : "note", says: "loud" };
}

function noise(snrDb: number, canTell: boolean): LiveCheck {
  if (!canTell) return { check: "noise", level: "waiting", says: "waiting" };
  if (snrDb >= bounds.snr_note_db) return { check: "noise", level: "ok", says: "goodNoise" };
  return { check: "noise", level: snrDb < bounds.snr_problem_db ? "problem" : "note", says: "noisy" };
}

/** From the first to the last frame in which somebody speaks. */
function spoken_s(heard: Heard, noiseDb: number, speechDb: number, sampleRateHz: number): number {
  const bound = Math.max(noiseDb + ABOVE_NOISE_DB, speechDb - BELOW_SPEECH_DB);
  const isSpeech = (levelDb: number) => levelDb > Math.min(bound, speechDb - 6);
  const first = heard.levelsDb.findIndex(isSpeech);
  const last = heard.levelsDb.findLastIndex(isSpeech);
  const frame_s = heard.samples / sampleRateHz / heard.levelsDb.length;
  return first < 0 ? 0 : (last - first + 1) * frame_s;
}

function levelDb(frame: Float32Array): number {
  const power = frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length;
  return 10 * Math.log10(power + 10 ** (SILENCE_DB / 10));
}
