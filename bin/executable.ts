// kubectl-edgeset as one executable, which contains Node and the program.

import { getAsset } from 'node:sea';
import { exit } from './exit.ts';
import { loadProgram } from './load-program.ts';

const { main, processIo } = loadProgram('file:///program.cjs', () => getAsset('program.cjs', 'latin1'));
exit(await main(process.argv.slice(2), processIo(Math.random), 'kubectl edgeset'));
