// Entry point of the bundled manager.

import { processIo } from '../src/cli/io.ts';
import { managerMain } from '../src/cli/manager.ts';
import { exit } from './exit.ts';

exit(await managerMain(process.argv.slice(2), processIo(Math.random)));
