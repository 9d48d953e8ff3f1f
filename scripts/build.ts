// npm run build: writes the programs as they are shipped into dist/: the command line (cli) and those of the images, and the
// completion of edgeset for shells. With --report, prints what is in the programs.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { analyzeMetafile } from 'esbuild';
import { completionScript, type Shell } from '../src/cli/plugin/completion/script.ts';
import { buildPrograms } from './bundle.ts';

const root = path.join(import.meta.dirname, '..');

const bundles = Object.values(await buildPrograms(path.join(root, 'dist')));
for (const { file, metafile } of bundles) {
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  console.log(`${path.relative(root, file)}  ${Math.round(bytes / 1024)} KiB`);
  if (process.argv.includes('--report')) console.log(await analyzeMetafile(metafile));
}

/** Each under the name by which its shell finds it. */
const COMPLETION: Readonly<Record<string, Shell>> = { 'edgeset.bash': 'bash', _edgeset: 'zsh', 'edgeset.fish': 'fish' };
await mkdir(path.join(root, 'dist/completion'), { recursive: true });
for (const [name, shell] of Object.entries(COMPLETION))
  await writeFile(path.join(root, 'dist/completion', name), completionScript(shell));
