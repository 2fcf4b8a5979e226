// Entry point of the web client.

import { App } from "./app.js";

new App(document).start();
