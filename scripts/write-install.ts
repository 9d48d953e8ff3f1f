// Joins what deploy/kustomization.yaml lists into deploy/install.yaml, for `kubectl apply -f`:
//   npm run generate

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const FOLDER = path.join(import.meta.dirname, '..', 'deploy');

export const INSTALL_FILE = path.join(FOLDER, 'install.yaml');

/** The files as they are, comments included, in the order of the list: kustomize adds nothing here. */
export const renderInstall = (): string => {
  const { resources } = parse(readFileSync(path.join(FOLDER, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
  const header = '# Written by scripts/write-install.ts from the files that kustomization.yaml lists: change them.\n';
  return header + resources.map((file) => readFileSync(path.join(FOLDER, file), 'utf8')).join('---\n');
};

if (import.meta.main) writeFileSync(INSTALL_FILE, renderInstall());
