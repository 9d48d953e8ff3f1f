// What is in an image, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

import { createHash } from 'node:crypto';
import manifest from '../../package.json' with { type: 'json' };
import type { BundledPackage } from '../notices.ts';
import type { Component } from './components.ts';
import { type Architecture, type DebianPackage, debianPackages, debianRelease } from './debian-packages.ts';
import { createdOf, type Origin, referenceOf } from './image.ts';
import { type NodePackage, readLockfile } from './node-package.ts';
import type { OciImage } from './oci.ts';

/** The libraries of C and C++ are dynamically linked; Debian's copyright files in the image have the details. */
const DEBIAN_LICENSES: Readonly<Record<string, string>> = { libc6: 'LGPL-2.1-or-later' };
const OF_GCC = 'GPL-3.0-or-later WITH GCC-exception-3.1';

interface Hash {
  alg: 'SHA-256' | 'SHA-512';
  content: string;
}

interface Part {
  type: string;
  'bom-ref': string;
  name: string;
  version: string;
  licenses?: { expression: string }[];
  purl?: string;
  cpe?: string;
  hashes?: Hash[];
  components?: Part[];
}

const sha256 = (content: string): Hash => ({ alg: 'SHA-256', content });

/** Of an `integrity` in the lockfile. */
const sha512 = (integrity: string): Hash => ({
  alg: 'SHA-512',
  content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
});

const purlOf = (kind: string, name: string, version: string, qualifiers = ''): string => {
  const path = name.split('/').map(encodeURIComponent).join('/');
  return `pkg:${kind}/${path}@${encodeURIComponent(version)}${qualifiers}`;
};

const identified = (purl: string) => ({ 'bom-ref': purl, purl });

const debianPart = ({ name, version, sha256: digest }: DebianPackage, architecture: Architecture): Part => ({
  type: 'library',
  ...identified(purlOf('deb/debian', name, version, `?arch=${architecture}&distro=debian-${debianRelease.id}`)),
  name,
  version,
  licenses: [{ expression: DEBIAN_LICENSES[name] ?? OF_GCC }],
  hashes: [sha256(digest)],
});

export const npmPart = ({ name, version, license }: BundledPackage): Part => {
  const { packages } = readLockfile();
  const locked = Object.entries(packages).find(
    ([path, each]) => path.endsWith(`node_modules/${name}`) && each?.version === version,
  );
  const integrity = locked?.[1]?.integrity;
  return {
    type: 'library',
    ...identified(purlOf('npm', name, version)),
    name,
    version,
    licenses: [{ expression: license }],
    ...(integrity !== undefined && { hashes: [sha512(integrity)] }),
  };
};

/** Linked into Node, and therefore named by it. The build runs on the version that it ships. */
const LINKED = [
  'ada',
  'ares',
  'brotli',
  'icu',
  'llhttp',
  'nghttp2',
  'openssl',
  'simdjson',
  'undici',
  'uv',
  'v8',
  'zlib',
];

export const nodePart = (version: string) => ({
  type: 'platform',
  ...identified(purlOf('generic', 'node', version)),
  name: 'node',
  version,
  cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  licenses: [{ expression: 'MIT' }],
});

const nodeOfImage = ({ version, binary }: NodePackage): Part => {
  const part = nodePart(version);
  return {
    ...part,
    hashes: [sha256(createHash('sha256').update(binary).digest('hex'))],
    components: LINKED.flatMap((name): Part[] => {
      const { [name]: linked } = process.versions;
      return linked ? [{ type: 'library', 'bom-ref': `${part.purl}#${name}`, name, version: linked }] : [];
    }),
  };
};

/** What depends on nothing but its parts. */
export const bomOf = (subject: { 'bom-ref': string }, parts: readonly Part[], metadata: object = {}): object => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { ...metadata, component: subject },
  components: parts,
  dependencies: [{ ref: subject['bom-ref'], dependsOn: parts.map((part) => part['bom-ref']) }],
});

/** A UUID of the digest: the same image has the same serial number. */
const serialOf = (digest: string): string =>
  digest.replace(
    /^sha256:(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    // The digits of a UUID that its maker defines (RFC 9562, version 8).
    'urn:uuid:$1-$2-8$3-8$4-$5',
  );

export interface SbomOptions {
  component: Component;
  architecture: Architecture;
  image: OciImage;
  origin: Origin;
  node: NodePackage;
  /** Of which the program holds code. */
  packages: readonly BundledPackage[];
}

export const sbomOf = ({ component, architecture, image, origin, node, packages }: SbomOptions): object => {
  const { digest } = image.manifest;
  const parts = [
    nodeOfImage(node),
    ...debianPackages(architecture).map((each) => debianPart(each, architecture)),
    ...packages.map(npmPart),
  ];
  const subject = {
    type: 'container',
    'bom-ref': `${referenceOf(component)}@${digest}`,
    name: `edgeset/${component.name}`,
    version: manifest.version,
    description: `${component.description} (linux/${architecture})`,
    licenses: [{ expression: manifest.license }],
    hashes: [sha256(digest.replace('sha256:', ''))],
  };
  return { serialNumber: serialOf(digest), ...bomOf(subject, parts, { timestamp: createdOf(origin) }) };
};
