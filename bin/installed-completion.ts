#!/usr/bin/env node
// `kubectl_complete-edgeset` of the npm package. kubectl runs it at each press of Tab after `kubectl edgeset`.

import { exit } from './exit.ts';
import { loadInstalled } from './load-program.ts';

const { complete, processIo } = loadInstalled('completion_of');
exit(await complete(process.argv.slice(2), processIo(Math.random)));
