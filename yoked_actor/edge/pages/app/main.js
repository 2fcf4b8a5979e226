// The web client: starts the app that this page is.

import { App } from "./app.js";

new App(document).start();
