// The files of the images, in two layers: the base, which changes with Node or a library of Debian only and which all images
// share, and the program. An update of edgeset transfers only the second to a node.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Component, components, NODE } from './components.ts';
import { type Architecture, debianRelease, type UnpackedPackage } from './debian-packages.ts';
import type { NodePackage } from './node-package.ts';
import type { Entry } from './tar.ts';

const root = path.join(import.meta.dirname, '../..');

/** The libraries that `ldd node` names, by package. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  'gcc-12-base': [],
  libatomic1: ['usr/lib/TRIPLET/libatomic.so.1'],
  libc6: [
    'lib/TRIPLET/LOADER',
    'lib/TRIPLET/libc.so.6',
    'lib/TRIPLET/libdl.so.2',
    'lib/TRIPLET/libm.so.6',
    'lib/TRIPLET/libpthread.so.0',
  ],
  'libgcc-s1': ['lib/TRIPLET/libgcc_s.so.1'],
  'libstdc++6': ['usr/lib/TRIPLET/libstdc++.so.6'],
};

const PLATFORM: Readonly<Record<Architecture, { triplet: string; loader: string; loaderFolder: string }>> = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2', loaderFolder: 'lib64' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1', loaderFolder: 'lib' },
};

const file = (name: string, content: Buffer | string, mode = 0o644): Entry => ({
  kind: 'file',
  path: name,
  mode,
  content: Buffer.from(content),
});

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');

/** Where files of a package's library lie in the image; as in the package. */
const libraryPaths = (name: string, architecture: Architecture): string[] => {
  const { triplet, loader } = PLATFORM[architecture];
  return (LIBRARIES[name] ?? []).map((each) => each.replace('TRIPLET', triplet).replace('LOADER', loader));
};

/** What scanners of images read to find Debian's packages, and what their licenses ask for. */
const packageRecords = ({ name, control, readFile }: UnpackedPackage): Entry[] => [
  file(`var/lib/dpkg/status.d/${name}`, control),
  file(`usr/share/doc/${name}/copyright`, readFile(`usr/share/doc/${name}/copyright`)),
];

const accounts = (): Entry[] => {
  const users = [{ user: 'root', uid: 0 }, ...components].map(({ user, uid }) => ({ user, uid }));
  return [
    file('etc/passwd', lines(...users.map(({ user, uid }) => `${user}:x:${uid}:${uid}::/:/sbin/nologin`))),
    file('etc/group', lines(...users.map(({ user, uid }) => `${user}:x:${uid}:`))),
  ];
};

/** Everything but the program; equal for all images of the architecture. */
export const baseContents = (
  architecture: Architecture,
  node: NodePackage,
  packages: readonly UnpackedPackage[],
): Entry[] => {
  const { triplet, loader, loaderFolder } = PLATFORM[architecture];
  return [
    file(NODE.slice(1), node.binary, 0o755),
    file('usr/share/doc/node/LICENSE', node.license),
    ...packages.flatMap((each) => [
      ...libraryPaths(each.name, architecture).map((name) => file(name, each.readFile(name), 0o755)),
      ...packageRecords(each),
    ]),
    { kind: 'link', path: `${loaderFolder}/${loader}`, target: `/lib/${triplet}/${loader}` },
    ...accounts(),
    // Without it, the C library would ask DNS before /etc/hosts.
    file('etc/nsswitch.conf', lines('passwd: files', 'group: files', 'hosts: files dns')),
    file(
      'etc/os-release',
      lines('ID=debian', `VERSION_ID="${debianRelease.id}"`, `VERSION_CODENAME=${debianRelease.codename}`),
    ),
    { kind: 'folder', path: 'tmp', mode: 0o1777 },
  ];
};

/** The program as `npm run build` wrote it, and the licenses of what is in it. */
export const programContents = ({ folder, program }: Component): Entry[] => {
  const from = path.join(root, 'dist', folder);
  const built = readdirSync(from);
  if (!built.includes(program)) throw new Error(`dist/${folder}/${program} is missing: run npm run build`);
  return [
    ...built
      .filter((name) => name.startsWith(program))
      .map((name) => file(`app/${name}`, readFileSync(path.join(from, name)))),
    file('app/LICENSE', readFileSync(path.join(root, 'LICENSE'))),
  ];
};
