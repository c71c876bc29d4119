/** The microphone, as samples: what the browser hears, without its noise gates and automatic gain. */

import workletAddress from "./recorder.worklet.js?url";

export const canRecord = typeof navigator.mediaDevices?.getUserMedia === "function";

export interface Recording {
  sampleRateHz: number;
  stop(): Promise<void>;
}

/** Raises a DOMException where the microphone cannot be had. */
export async function record(heard: (samples: Float32Array) => void): Promise<Recording> {
  const microphone = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  });
  const context = new AudioContext();

  async function stop(): Promise<void> {
    microphone.getTracks().forEach((track) => track.stop());
    await context.close();
  }

  try {
    await context.audioWorklet.addModule(workletAddress);
    const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0, channelCount: 1 });
    node.port.onmessage = (message: MessageEvent<Float32Array>) => heard(message.data);
    context.createMediaStreamSource(microphone).connect(node);
    return { sampleRateHz: context.sampleRate, stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

/** Plays samples; no element needs an address for it, which the content security policy would refuse. */
export async function playSamples(samples: Float32Array<ArrayBuffer>, sampleRateHz: number): Promise<void> {
  const context = new AudioContext();
  const buffer = context.createBuffer(1, samples.length, sampleRateHz);
  buffer.copyToChannel(samples, 0);
  const source = new AudioBufferSourceNode(context, { buffer });
  source.connect(context.destination);
  source.onended = () => void context.close();
  source.start();
}
