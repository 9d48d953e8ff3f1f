// The completion of `kubectl edgeset` from a checkout. kubectl runs this at each press of Tab after `kubectl edgeset`.

import { complete, processIo } from '../src/cli/index.ts';
import { exit } from './exit.ts';

exit(await complete(process.argv.slice(2), processIo(Math.random)));
