/** The daemon's server-sent events. */

import type { Result, State } from "./messages";

const RETRY_MS = 3_000;

export interface Listener {
  state(state: State): void;
  result(result: Result): void;
  connected(isConnected: boolean): void;
}

/** Listens until the returned function is called; a connection that is lost is made again. */
export function listen(listener: Listener): () => void {
  let source: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    source = new EventSource("api/events");
    source.addEventListener("open", () => listener.connected(true));
    source.addEventListener("state", (event) => listener.state(JSON.parse(event.data) as State));
    source.addEventListener("result", (event) => listener.result(JSON.parse(event.data) as Result));
    source.addEventListener("error", () => {
      listener.connected(false);
      // After an HTTP error, such as a proxy's 502, the browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
    });
  }

  open();
  return () => {
    clearTimeout(retry);
    source.close();
  };
}
