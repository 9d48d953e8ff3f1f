import path from 'node:path';
import { firstOf, INDEX } from './pages.ts';

export interface LinkTarget {
  /** All pages below docs/, by their path there. */
  pages: ReadonlySet<string>;
  /** The branch or tag on GitHub that links to other files go to. */
  ref: string;
}

export const GITHUB = 'https://github.com/edgeset/edgeset';

/**
 * A link of a page, as the site needs it. On GitHub, the index of a folder is its README, and a link may lead to a folder or
 * out of docs/: the site has only the pages.
 */
export const siteLink = (page: string, link: string, { pages, ref }: LinkTarget): string => {
  if (/^([a-z][a-z+.-]*:|\/|#)/i.test(link)) return link;
  const [to = '', anchor] = link.split('#', 2);
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(page), to));
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (target.startsWith('../')) {
    const kind = target.endsWith('/') ? 'tree' : 'blob';
    return `${GITHUB}/${kind}/${ref}/${target.slice('../'.length)}${hash}`;
  }
  const found = target.endsWith('/') ? firstOf(target, pages) : target;
  // What does not exist stays as it is written, and VitePress names it.
  if (found === undefined) return link;
  const relative = path.posix.relative(path.posix.dirname(page), found === INDEX ? 'index.md' : found);
  return `${relative.startsWith('../') ? '' : './'}${relative}${hash}`;
};
