// npm run build: writes dist/agent/edgeset-agent.mjs and dist/manager/edgeset-manager.mjs, the agent and the manager as they
// are shipped. With --report, prints what is in them.

import path from 'node:path';
import { analyzeMetafile } from 'esbuild';
import { buildAgent, buildManager } from './bundle.ts';

const root = path.join(import.meta.dirname, '..');

const bundles = await Promise.all([
  buildAgent(path.join(root, 'dist/agent')),
  buildManager(path.join(root, 'dist/manager')),
]);
for (const { file, metafile } of bundles) {
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  console.log(`${path.relative(root, file)}  ${Math.round(bytes / 1024)} KiB`);
  if (process.argv.includes('--report')) console.log(await analyzeMetafile(metafile));
}
