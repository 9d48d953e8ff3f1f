import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The repository. VitePress bundles this file into its configuration, and keeps what `import.meta.dirname` was. */
export const root = path.join(import.meta.dirname, '..', '..');

/** The index of the documentation, which is the first page of the site. */
export const INDEX = 'README.md';

/** The pages below docs/, by their path there. */
export const readPages = (): ReadonlyMap<string, string> => {
  const docs = path.join(root, 'docs');
  const files = globSync('**/*.md', { cwd: docs }).map((file) => file.replaceAll(path.sep, '/'));
  return new Map(files.toSorted().map((file) => [file, readFileSync(path.join(docs, file), 'utf8')]));
};

/** Where the site has a page. */
export const addressOf = (page: string): string => (page === INDEX ? 'index.html' : page.replace(/\.md$/, '.html'));

/** The first page of a folder: a link to the folder opens it, and the sidebar lists the others. */
export const firstOf = (folder: string, pages: Iterable<string>): string | undefined =>
  [...pages].toSorted().find((page) => path.posix.dirname(page) === path.posix.normalize(folder).replace(/\/$/, ''));
