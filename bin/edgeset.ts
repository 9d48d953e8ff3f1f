import { main, processIo } from '../src/cli/index.ts';

const code = await main(process.argv.slice(2), processIo(Math.random));
// A failure may leave work behind that would hold the process, as acts that did not settle; success leaves nothing.
if (code === 0) process.exitCode = 0;
else process.exit(code);
