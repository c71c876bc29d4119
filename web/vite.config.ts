import vue from "@vitejs/plugin-vue";
import { defineConfig } from "vite";

import { fingerprint } from "./fingerprint";

const API = "http://127.0.0.1:7861"; // tests/page/server.py, or a daemon: see README.md

export default defineConfig({
  base: "./", // the page also works behind a reverse proxy that gives it a path of its own
  plugins: [vue(), fingerprint()],
  build: {
    outDir: "../daemon/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0, // data: addresses would be refused by the content security policy
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(["/api", "/outputs", "/metrics"].map((path) => [path, API])),
  },
});
