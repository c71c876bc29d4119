/** A fingerprint of the page's source, kept beside it, so that a test finds a build that was forgotten. */

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Plugin } from "vite";

const SOURCES = ["index.html", "package-lock.json", "public", "src", "vite.config.ts"];
const FILE = "built-from.txt";

export function fingerprint(): Plugin {
  return {
    name: "fingerprint",
    apply: "build",
    writeBundle() {
      const names = SOURCES.flatMap((name) => (name.includes(".") ? [name] : filesIn(name)));
      const hash = createHash("sha256");
      for (const name of names.sort()) hash.update(`${name}\0`).update(readFileSync(name));
      writeFileSync(FILE, `${hash.digest("hex")}\n`);
    },
  };
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
