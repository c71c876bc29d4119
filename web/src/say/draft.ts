/** What stands in the announcement box. */

import { reactive } from "vue";

import type { Priority, Say } from "../api/messages";

export const draft = reactive({
  text: "",
  voice: "", // "": as in the settings
  style: "",
  speed: 1,
  seed: "" as number | "",
  priority: "message" as Priority,
  output: "both" as "both" | "file",
});

/** The request; what is left as it is set is not in it. */
export function request(): Say {
  return {
    text: draft.text,
    priority: draft.priority,
    output: draft.output,
    speed: draft.speed,
    ...(draft.voice && { voice: draft.voice }),
    ...(draft.style && { style: draft.style }),
    ...(draft.seed !== "" && { seed: draft.seed }),
  };
}

export function writeAgain(text: string): void {
  draft.text = text;
  document.getElementById("say-text")?.focus();
}
