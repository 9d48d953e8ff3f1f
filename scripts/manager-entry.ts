// Where the bundled manager begins.

import { processIo } from '../src/cli/io.ts';
import { managerMain } from '../src/cli/manager.ts';

const code = await managerMain(process.argv.slice(2), processIo(Math.random));
// As in bin/edgeset.ts: a failure may leave work behind that would hold the process.
if (code === 0) process.exitCode = 0;
else process.exit(code);
