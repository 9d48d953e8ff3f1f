import { main, processIo } from '../src/cli/index.ts';

const code = await main(process.argv.slice(2), processIo(Math.random), 'kubectl edgeset');
// As in edgeset.ts: a failure may leave work behind that would hold the process.
if (code === 0) process.exitCode = 0;
else process.exit(code);
