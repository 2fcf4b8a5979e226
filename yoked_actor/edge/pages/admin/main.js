// Entry point of the operator console.

import { Console } from "./console.js";

new Console(document).start();
