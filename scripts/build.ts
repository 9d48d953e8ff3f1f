// npm run build: writes dist/agent/edgeset-agent.mjs, the agent as devices run it. With --report says what is in it.

import path from 'node:path';
import { analyzeMetafile } from 'esbuild';
import { buildAgent } from './build-agent.ts';

const root = path.join(import.meta.dirname, '..');

const { file, metafile } = await buildAgent(path.join(root, 'dist/agent'));
const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
console.log(`${path.relative(root, file)}  ${Math.round(bytes / 1024)} KiB`);
if (process.argv.includes('--report')) console.log(await analyzeMetafile(metafile));
