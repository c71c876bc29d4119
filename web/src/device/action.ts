/** What the user asked for, under way: busy, or its fault. */

import { computed, ref } from "vue";

import { ApiError } from "../api/client";
import { explain } from "../language/language";
import { device } from "./device";

export function useAction() {
  const waiting = ref(0);
  const isBusy = computed(() => waiting.value > 0);
  const fault = ref<string | null>(null);
  let turn: Promise<unknown> = Promise.resolve();

  /** Does it after what was asked for before; true when it was done without a fault. */
  function run(act: () => Promise<unknown>): Promise<boolean> {
    waiting.value += 1;
    const done = turn.then(() => attempt(act)).finally(() => (waiting.value -= 1));
    turn = done.catch(() => undefined); // whoever asked for it sees the fault
    return done;
  }

  async function attempt(act: () => Promise<unknown>): Promise<boolean> {
    fault.value = null;
    try {
      await act();
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      device.needsLogin ||= error.status === 401;
      fault.value = explain(error.code, error.message);
      return false;
    }
  }

  return { isBusy, fault, run };
}
