/** Which language the page speaks: the browser's at first, then the one chosen here. */

import { computed, ref, watchEffect } from "vue";

import { en } from "./en";
import { zh } from "./zh";

export type Words = typeof en;
export type Language = "en" | "zh";
type ErrorCode = keyof Words["errors"];

// These are told in the page's words alone.
const OWN: readonly string[] = ["unreachable", "timeout", "unauthorized"];
// What is meant by these only the daemon's sentence says.
const TOO_GENERAL: readonly string[] = ["not_possible", "out_of_range", "text_too_long"];
const KEPT_AS = "language";

export const language = ref<Language>(first());
export const words = computed<Words>(() => (language.value === "zh" ? zh : en));

/** Keeps the document and the browser's memory in step with the choice. */
export function followLanguage(): void {
  watchEffect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
    document.title = words.value.title;
  });
}

export function choose(chosen: Language): void {
  language.value = chosen;
  localStorage.setItem(KEPT_AS, chosen);
}

/** What a fault means; the daemon's own English sentence says more where that is what is read. */
export function explain(code: string | null, sentence: string | null): string {
  const general = code !== null && code in words.value.errors ? words.value.errors[code as ErrorCode] : "";
  if (general && OWN.includes(code ?? "")) return general;
  if (general && language.value === "zh") {
    return sentence && TOO_GENERAL.includes(code ?? "") ? `${general}（${sentence}）` : general;
  }
  return sentence || general || words.value.unknownFault;
}

/** What was asked for and not given; empty where nothing was. */
export function missing(degraded: string[] | undefined): string {
  if (!degraded?.length) return "";
  const { degraded: sentence, things } = words.value.result;
  return sentence(degraded.map((thing) => things[thing] ?? thing).join(words.value.comma));
}

export function time(iso: string): string {
  const options: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  return new Date(iso).toLocaleTimeString(document.documentElement.lang, { ...options, hour12: false });
}

export function seconds(duration_s: number): string {
  return `${duration_s.toFixed(1)} ${words.value.unitSecond}`;
}

export function bytes(count: number): string {
  const mebibytes = count / 2 ** 20;
  return mebibytes < 1000 ? `${mebibytes.toFixed(0)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}

function first(): Language {
  const kept = localStorage.getItem(KEPT_AS);
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}
