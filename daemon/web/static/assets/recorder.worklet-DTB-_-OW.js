/** Hands the microphone's samples on, a few blocks at a time. It runs in the browser's audio thread. */

const BLOCK = 2048;

class Recorder extends AudioWorkletProcessor {
  #block = new Float32Array(BLOCK);
  #filled = 0;

  process([input]) {
    const samples = input?.[0];
    if (!samples) return true;
    for (const sample of samples) {
      this.#block[this.#filled++] = sample;
      if (this.#filled < BLOCK) continue;
      this.port.postMessage(this.#block.slice());
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor("recorder", Recorder);
