// npm run docs: serves the documentation as a site, and shows what you change. With --build, writes the site to dist/docs/ and
// checks each page: links, search, and that nothing comes from other hosts.
//   npm run docs -- [--build] [--base /PATH/] [--ref TAG] [--port N]
// --base is the path below which the site is served, --ref what its links to files of the repository name on GitHub.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { faultsOf } from './site/check.ts';
import { installApart } from './site/install.ts';
import { addressOf, readPages, root } from './site/pages.ts';

const { values } = parseArgs({
  options: {
    build: { type: 'boolean', default: false },
    base: { type: 'string', default: '/' },
    ref: { type: 'string', default: 'main' },
    port: { type: 'string', default: '5173' },
  },
});

const folder = path.join(root, 'scripts/site/vitepress');

const vitepress = async (...args: string[]): Promise<number> => {
  const program = path.join(folder, 'node_modules/vitepress/bin/vitepress.js');
  const child = spawn(process.execPath, [program, ...args, '--base', values.base], {
    stdio: 'inherit',
    env: { ...process.env, EDGESET_DOCS_REF: values.ref },
  });
  // Otherwise the server would outlive a caller that ends this process only.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
};

const builtSite = (): ReadonlyMap<string, string> => {
  const built = path.join(root, 'dist/docs');
  return new Map(
    globSync('**/*.*', { cwd: built }).map((file) => [
      file.replaceAll(path.sep, '/'),
      /\.(html|js)$/.test(file) ? readFileSync(path.join(built, file), 'utf8') : '',
    ]),
  );
};

installApart(folder);
if (!values.build) process.exit(await vitepress('dev', folder, '--port', values.port));

const code = await vitepress('build', folder);
if (code !== 0) process.exit(code);
const pages = [...readPages().keys()].map(addressOf);
const faults = faultsOf(pages, { files: builtSite(), base: values.base });
for (const fault of faults) console.error(fault);
const bad = new Set(faults.map((fault) => fault.split(':')[0])).size;
console.log(`docs: ${pages.length - bad} passed, ${bad} failed`);
process.exitCode = bad > 0 ? 1 : 0;
