#!/usr/bin/env node
// `kubectl-edgeset` of the npm package.

import { exit } from './exit.ts';
import { loadInstalled } from './load-program.ts';

const { main, processIo } = loadInstalled();
exit(await main(process.argv.slice(2), processIo(Math.random), 'kubectl edgeset'));
