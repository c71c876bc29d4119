import { createApp } from "vue";

import App from "./App.vue";
import "./style/theme.css";
import "./style/base.css";
import "./style/controls.css";

createApp(App).mount("#app");
