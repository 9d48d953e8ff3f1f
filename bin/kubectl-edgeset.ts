// `kubectl edgeset` from a checkout.

import { main, processIo } from '../src/cli/index.ts';
import { exit } from './exit.ts';

exit(await main(process.argv.slice(2), processIo(Math.random), 'kubectl edgeset'));
