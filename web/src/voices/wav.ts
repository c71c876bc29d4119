/** 16-bit mono WAV. */

const HEADER_BYTES = 44;

export function joined(blocks: Float32Array[]): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(blocks.reduce((count, block) => count + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    samples.set(block, at);
    at += block.length;
  }
  return samples;
}

export function encode(samples: Float32Array, sampleRateHz: number): Blob {
  const bytes = new DataView(new ArrayBuffer(HEADER_BYTES + 2 * samples.length));
  const word = (at: number, text: string) => [...text].forEach((c, i) => bytes.setUint8(at + i, c.charCodeAt(0)));
  word(0, "RIFF");
  bytes.setUint32(4, bytes.byteLength - 8, true);
  word(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true); // bytes of this chunk
  bytes.setUint16(20, 1, true); // PCM
  bytes.setUint16(22, 1, true); // channels
  bytes.setUint32(24, sampleRateHz, true);
  bytes.setUint32(28, 2 * sampleRateHz, true);
  bytes.setUint16(32, 2, true); // bytes a frame
  bytes.setUint16(34, 16, true); // bits a sample
  word(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, index) => {
    const limited = Math.max(-1, Math.min(1, sample));
    bytes.setInt16(HEADER_BYTES + 2 * index, Math.round(limited * 32767), true);
  });
  return new Blob([bytes], { type: "audio/wav" });
}
