// npm run build:images: writes dist/images/, the images as OCI archives: one for each component and architecture, and one for
// each component with all architectures; beside each image, what is in it (CycloneDX). Needs no container engine and no root. The same sources give the same bytes.
//   --arch amd64        only this architecture
//   --output FOLDER     in place of dist/images
//   --rootfs FOLDER     only the files of the images, for Containerfile: those that they share in base, the others by component
//   --update-packages   builds nothing, and pins the newest versions of Debian's packages

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Bundle, buildImagePrograms } from './bundle.ts';
import { components } from './images/components.ts';
import { programContents } from './images/contents.ts';
import { type Architecture, architectures } from './images/debian-packages.ts';
import {
  archiveOfImage,
  baseEntries,
  baseLayer,
  blobsOf,
  checkSize,
  componentImage,
  MEGABYTE,
  namedEntry,
  type Origin,
  platformEntry,
  sizeOf,
} from './images/image.ts';
import { lockedNode, nodePackage } from './images/node-package.ts';
import { archiveOf, type Blob, type Descriptor, descriptorOf, jsonBlob, MEDIA } from './images/oci.ts';
import { sbomOf } from './images/sbom.ts';
import { writeTree } from './images/tar.ts';
import { updatePackages } from './images/update-packages.ts';

const root = path.join(import.meta.dirname, '..');

const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'edgeset/images');

const isArchitecture = (name: string): name is Architecture => architectures.some((known) => known === name);

const parseArchitectures = (names: string): Architecture[] =>
  names.split(',').map((name) => {
    if (isArchitecture(name)) return name;
    throw new Error(`--arch: "${name}" is not supported: give ${architectures.join(' or ')}`);
  });

const git = (...args: string[]): string | undefined => {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
};

/** https://reproducible-builds.org/specs/source-date-epoch/ */
const originOf = (): Origin => {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given !== undefined && !/^\d{1,11}$/.test(given))
    throw new Error(`SOURCE_DATE_EPOCH: "${given}" is not a number of seconds since 1970`);
  const changed = git('status', '--porcelain') !== '';
  return {
    epoch: Number(given ?? git('log', '-1', '--format=%ct') ?? 0),
    revision: changed ? undefined : git('rev-parse', 'HEAD'),
  };
};

/** The bundles of the programs, by the name of their component. */
type Bundles = Readonly<Record<string, Bundle>>;

const writeArchives = async (wanted: readonly Architecture[], bundles: Bundles, output: string): Promise<void> => {
  const origin = originOf();
  const bases = await Promise.all(wanted.map(async (each) => [each, await baseLayer(each, cache)] as const));
  mkdirSync(output, { recursive: true });
  for (const stale of readdirSync(output))
    if (/^edgeset-.*\.(tar|cdx\.json|payload\.json|sig)$/.test(stale)) rmSync(path.join(output, stale));

  for (const component of components) {
    const entries: Descriptor[] = [];
    const blobs: Blob[] = [];
    for (const [architecture, base] of bases) {
      const image = await componentImage(component, architecture, base, origin);
      const name = `edgeset-${component.name}_linux_${architecture}.tar`;
      checkSize(name, sizeOf(image));
      writeFileSync(path.join(output, name), archiveOfImage(image, component, architecture));
      const packages = bundles[component.name]?.packages ?? [];
      const node = nodePackage(architecture, cache);
      const sbom = sbomOf({ component, architecture, image, origin, node, packages });
      writeFileSync(path.join(output, name.replace(/tar$/, 'cdx.json')), `${JSON.stringify(sbom, undefined, 2)}\n`);
      entries.push(platformEntry(image, architecture));
      blobs.push(...blobsOf(image));
      console.log(`${name}  ${(sizeOf(image) / MEGABYTE).toFixed(1)} MB compressed  ${image.manifest.digest}`);
    }
    if (entries.length < 2) continue;
    const index = jsonBlob(MEDIA.index, { schemaVersion: 2, mediaType: MEDIA.index, manifests: entries });
    const name = `edgeset-${component.name}.tar`;
    writeFileSync(path.join(output, name), archiveOf([namedEntry(descriptorOf(index), component)], [index, ...blobs]));
    console.log(`${name}  ${wanted.join(', ')}  ${index.digest}`);
  }
};

/** Node bundles, compresses, and names its own parts: another version would give other bytes. */
const checkNode = (): void => {
  const version = lockedNode('amd64').version;
  if (process.versions.node !== version)
    throw new Error(
      `runs on Node ${process.versions.node}, and package-lock.json pins ${version}: use npm run build:images`,
    );
};

const writeFiles = (wanted: readonly Architecture[], folder: string): void => {
  const [architecture, ...others] = wanted;
  if (architecture === undefined || others.length > 0)
    throw new Error('--rootfs: holds the files of one architecture: give --arch amd64 or --arch arm64');
  if (existsSync(folder)) throw new Error(`--rootfs: ${folder} exists: remove it, or give another folder`);
  writeTree(baseEntries(architecture, cache), path.join(folder, 'base'));
  for (const component of components) writeTree(programContents(component), path.join(folder, component.name));
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: architectures.join(',') },
      output: { type: 'string', default: path.join(root, 'dist/images') },
      rootfs: { type: 'string' },
      'update-packages': { type: 'boolean' },
    },
  });
  if (values['update-packages']) {
    const changes = updatePackages();
    console.log(changes.join('\n') || "Debian's packages are up to date");
    // This process has the old versions.
    if (changes.length > 0) console.log('Run npm run build:images again to build with them');
    return;
  }
  const wanted = parseArchitectures(values.arch);
  checkNode();
  const bundles = await buildImagePrograms(path.join(root, 'dist'));
  if (values.rootfs === undefined) await writeArchives(wanted, bundles, values.output);
  else writeFiles(wanted, values.rootfs);
};

try {
  await main();
} catch (error) {
  console.error(`build:images: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
