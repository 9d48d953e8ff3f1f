/** A site as it was built: its files by their path. Of files that are no text, nobody reads the text. */
export interface Site {
  files: ReadonlyMap<string, string>;
  /** The path below which it is served, such as `/edgeset/`. */
  base: string;
}

const FIRST_PAGE = 'index.html';

const decode = (text: string): string => decodeURIComponent(text.replaceAll('&amp;', '&'));

const referencesOf = (html: string, elements: string): string[] =>
  [...html.matchAll(new RegExp(`<(?:${elements})\\b[^>]*?\\s(?:href|src)="([^"]*)"`, 'g'))].map(([, to = '']) => to);

const idsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => decode(id)));

/** Links and images of a page that lead nowhere on the site. */
const brokenLinks = (page: string, { files, base }: Site): string[] =>
  referencesOf(files.get(page) ?? '', 'a|img|link|script').filter((link) => {
    if (/^([a-z][a-z+.-]*:|\/\/)/i.test(link)) return false;
    const { pathname, hash } = new URL(link, `http://site${base}${page}`);
    if (!pathname.startsWith(base)) return true;
    const target = decode(pathname.slice(base.length)) || FIRST_PAGE;
    return !files.has(target) || (hash !== '' && !idsOf(files.get(target) ?? '').has(decode(hash.slice(1))));
  });

/** What a page loads from other hosts: the site works without internet. */
const foreignFiles = (page: string, { files }: Site): string[] =>
  referencesOf(files.get(page) ?? '', 'img|link|script').filter((link) => /^(https?:)?\/\//i.test(link));

/**
 * What is wrong with each page: it is not built, the first page or the search doesn't name it, a link leads nowhere, or it
 * loads something from another host.
 */
export const faultsOf = (pages: readonly string[], site: Site): string[] => {
  const { files, base } = site;
  const named = new Set(referencesOf(files.get(FIRST_PAGE) ?? '', 'a'));
  const index = [...files].find(([file]) => /@localSearchIndex.*\.js$/.test(file))?.[1] ?? '';
  return pages.flatMap((page) => {
    if (!files.has(page)) return [`${page}: is not built`];
    return [
      ...(page === FIRST_PAGE || named.has(`${base}${page}`) ? [] : [`${page}: no link of the first page leads to it`]),
      ...(index.includes(page === FIRST_PAGE ? `"${base}#` : `${base}${page}`)
        ? []
        : [`${page}: the search doesn't find it`]),
      ...brokenLinks(page, site).map((link) => `${page}: ${link} leads nowhere`),
      ...foreignFiles(page, site).map((link) => `${page}: loads ${link}`),
    ];
  });
};
