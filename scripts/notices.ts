// The packages of which a bundle holds code, and their licenses, which ask to be passed on with it.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface BundledPackage {
  name: string;
  version: string;
  /** An SPDX expression. */
  license: string;
  /** The texts of its license and notice files. */
  texts: readonly string[];
}

const LICENSE_FILE = /^(licen[cs]e|notice|copying)\b.*$/i;

const read = (folder: string): BundledPackage => {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Partial<
    Record<'name' | 'version' | 'license', string>
  >;
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .toSorted()
    .map((file) => readFileSync(path.join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
  // A package may leave out the text of a license that it shares with edgeset.
  if (texts.length === 0 && license === 'Apache-2.0')
    texts.push(readFileSync(path.join(import.meta.dirname, '../LICENSE'), 'utf8').trim());
  if (name === undefined || version === undefined || license === undefined)
    throw new Error(`${folder}/package.json lacks name, version or license`);
  return { name, version, license, texts };
};

/** `inputs`: paths of source files, absolute or relative to `root`. */
export const packagesIn = (inputs: readonly string[], root: string): readonly BundledPackage[] => {
  const folders = new Set<string>();
  for (const input of inputs) {
    const [folder] = /^.*(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input.replaceAll('\\', '/')) ?? [];
    if (folder !== undefined) folders.add(path.resolve(root, folder));
  }
  return [...folders].map(read).toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

/** The text that is shipped beside the file. */
export const noticesOf = (file: string, packages: readonly BundledPackage[]): string =>
  [
    `${file} is part of edgeset, which is licensed under the Apache License 2.0. It contains code of these packages:`,
    ...packages.map(({ name, version, license, texts }) =>
      [`---- ${name} ${version} (${license})`, ...texts].join('\n\n'),
    ),
  ].join('\n\n') + '\n';
