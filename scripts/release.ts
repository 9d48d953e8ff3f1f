// npm run release: makes everything that a release consists of, in dist/release/, for the workflow that publishes it.
//   --dry-run   makes it from any state of the checkout, and only tells what a release would refuse

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import { buildPlugin } from './bundle.ts';
import { components } from './images/components.ts';
import { lockedNode } from './images/node-package.ts';
import { readArchive } from './images/oci.ts';
import { type Entry, tarOf } from './images/tar.ts';
import { archiveNameOf, buildArchive, type Platform, platforms } from './release/executables.ts';
import { krewManifest, PLUGIN_NAME, repositoryUrl } from './release/krew.ts';
import { programSbom } from './release/sbom.ts';
import { notesOf, problemsOf } from './release/state.ts';

const root = path.join(import.meta.dirname, '..');
const output = path.join(root, 'dist/release');
const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'edgeset/images');
const { version } = manifest;

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });

const read = (name: string): string => readFileSync(path.join(root, name), 'utf8');
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trimEnd();

/** Runs a program of the repository; what it prints is for people. */
const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] });

const write = (name: string, content: string | Buffer): void => {
  writeFileSync(path.join(output, name), content);
  console.log(`${name}  ${(Buffer.byteLength(content) / 1_000_000).toFixed(1)} MB`);
};

/** The files below a folder as entries of an archive, in which the folder has another name. */
const entriesOf = (folder: string, name: string): Entry[] =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const inside = path.posix.join(name, path.relative(path.join(root, folder), file).split(path.sep).join('/'));
      return { kind: 'file', path: inside, mode: 0o644, content: readFileSync(file) };
    });

const checkState = (): void => {
  const chart = parse(read('charts/edgeset/Chart.yaml')) as { version: string; appVersion: string };
  const problems = problemsOf({
    version,
    status: git('status', '--porcelain'),
    tags: git('tag', '--points-at', 'HEAD').split('\n').filter(Boolean),
    chart: { version: chart.version, appVersion: chart.appVersion },
    changelog: read('CHANGELOG.md'),
    repository: { url: repositoryUrl, workflow: process.env.GITHUB_REPOSITORY },
  });
  for (const problem of problems) console.error(`release: ${values['dry-run'] ? 'would be refused: ' : ''}${problem}`);
  if (problems.length > 0 && !values['dry-run']) process.exit(1);
};

const buildPrograms = async (): Promise<void> => {
  run('npm', 'pack', '--silent', '--pack-destination', output);
  const archives: [Platform, Buffer][] = [];
  for (const platform of platforms) {
    const archive = await buildArchive(platform, cache);
    archives.push([platform, archive]);
    write(archiveNameOf(platform), archive);
  }
  write(`${PLUGIN_NAME}.yaml`, krewManifest(archives));
  const { packages } = await buildPlugin(path.join(root, 'dist/plugin'));
  const node = lockedNode('amd64');
  write(`kubectl-edgeset_v${version}.cdx.json`, programSbom({ packages, node, revision: git('rev-parse', 'HEAD') }));
};

/** Returns the names of the images, with their digests. */
const buildImages = (): string[] => {
  const folder = path.join(root, 'dist/images');
  run(process.execPath, path.join(root, 'scripts/build-images.ts'), '--output', folder);
  // The archives with all architectures hold those of each.
  for (const name of readdirSync(folder).filter((each) => /^edgeset-[a-z]+\.tar$|\.cdx\.json$/.test(each)))
    cpSync(path.join(folder, name), path.join(output, name.replace(/(\.tar|\.cdx\.json)$/, `_v${version}$1`)));
  return components.map(({ name }) => {
    const { reference, digest } = readArchive(path.join(folder, `edgeset-${name}.tar`));
    return `${reference.replace(/:[^:/]+$/, '')}@${digest}`;
  });
};

const buildManifests = (): void => {
  // As helm package makes it, but with the same bytes at each build. Its name leaves that of npm's package free.
  write(`edgeset-chart-${version}.tgz`, gzipSync(tarOf(entriesOf('charts/edgeset', 'edgeset'))));
  write(`edgeset-deploy_v${version}.tar.gz`, gzipSync(tarOf(entriesOf('deploy', 'deploy'))));
  write('install.yaml', read('deploy/install.yaml'));
  const crds = readdirSync(path.join(root, 'deploy/crds')).toSorted();
  write('crds.yaml', crds.map((name) => read(`deploy/crds/${name}`)).join('---\n'));
};

checkState();
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
await buildPrograms();
const images = buildImages();
buildManifests();
write(
  'RELEASE_NOTES.md',
  notesOf({ changelog: read('CHANGELOG.md'), version, repository: { url: repositoryUrl } }, images),
);
const sums = readdirSync(output)
  .toSorted()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(path.join(output, name)))
        .digest('hex')}  ${name}\n`,
  );
write('SHA256SUMS', sums.join(''));
console.log(`${sums.length + 1} files in ${path.relative(root, output)}`);
