// Entry point of the bundled dashboard.

import { dashboardMain } from '../src/cli/commands.ts';
import { processIo } from '../src/cli/io.ts';
import { exit } from './exit.ts';

exit(await dashboardMain(process.argv.slice(2), processIo(Math.random)));
