/** The outline of a sound, for drawing. */

import * as api from "../api/client";

const DECODING_RATE_HZ = 8_000; // enough for an outline, and small in memory

/** The loudest sample of each of `count` stretches, 0 to 1, the loudest of all being 1. */
export async function peaks(address: string, count: number): Promise<number[]> {
  const context = new OfflineAudioContext(1, 1, DECODING_RATE_HZ);
  const sound = await context.decodeAudioData(await api.wav(address));
  return outline(sound.getChannelData(0), count);
}

export function outline(samples: Float32Array, count: number): number[] {
  const found = Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * samples.length) / count);
    const to = Math.floor(((index + 1) * samples.length) / count);
    return samples.subarray(from, to).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  });
  const loudest = Math.max(...found) || 1;
  return found.map((peak) => peak / loudest);
}
