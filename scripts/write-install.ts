// Joins what deploy/kustomization.yaml lists into deploy/install.yaml, for `kubectl apply -f`:
//   npm run generate

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const FOLDER = path.join(import.meta.dirname, '..', 'deploy');

export const INSTALL_FILE = path.join(FOLDER, 'install.yaml');

interface Kustomization {
  resources: string[];
  components?: string[];
  /** Whole objects, so that `kubectl apply -f` replaces by them what kustomize patches. */
  patches?: { path: string }[];
}

const read = (file: string): string => readFileSync(path.join(FOLDER, file), 'utf8');

const identityOf = (object: string): string => {
  const { kind, metadata } = parse(object) as { kind: string; metadata: { name: string } };
  return `${kind}/${metadata.name}`;
};

const filesOf = (folder: string): { resources: string[]; patches: string[] } => {
  const { resources, components = [], patches = [] } = parse(read(`${folder}kustomization.yaml`)) as Kustomization;
  const inner = components.map((component) => filesOf(`${folder}${component}/`));
  return {
    resources: [...resources.map((file) => `${folder}${file}`), ...inner.flatMap((each) => each.resources)],
    patches: [...patches.map((patch) => `${folder}${patch.path}`), ...inner.flatMap((each) => each.patches)],
  };
};

/** The files as they are, comments included, in the order of the list. */
export const renderInstall = (): string => {
  const { resources, patches } = filesOf('');
  const replaced = new Map(patches.map((file) => [identityOf(read(file)), read(file)]));
  const header = '# Written by scripts/write-install.ts from the files that kustomization.yaml lists: change them.\n';
  const objects = resources.flatMap((file) => read(file).split(/^---\n/m));
  return header + objects.map((object) => replaced.get(identityOf(object)) ?? object).join('---\n');
};

if (import.meta.main) writeFileSync(INSTALL_FILE, renderInstall());
