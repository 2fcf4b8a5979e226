// The operator's console: starts it.

import { Console } from "./console.js";

new Console(document).start();
