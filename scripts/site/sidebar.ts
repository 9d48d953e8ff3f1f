import path from 'node:path';
import { addressOf, firstOf, INDEX } from './pages.ts';

export interface Item {
  text: string;
  link?: string;
  collapsed?: boolean;
  items?: Item[];
}

type Pages = ReadonlyMap<string, string>;

const titleOf = (text: string): string => (/^# (.*)$/m.exec(text)?.[1] ?? '').replaceAll('`', '');

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

interface Table {
  /** Of the first column. */
  head: string;
  rows: readonly { text: string; link: string }[];
}

/** The tables of a text whose rows begin with a link. */
const tablesOf = (text: string): Table[] =>
  text.split(/\n{2,}/).flatMap((block) => {
    const [head = '', rule = '', ...lines] = block.trim().split('\n');
    if (!/^\|[\s:|-]+\|$/.test(rule)) return [];
    const rows = lines.flatMap((line) => {
      const [, name, link] = /^\| \[([^\]]+)\]\(([^)#\s]+)\)/.exec(line) ?? [];
      return name === undefined || link === undefined ? [] : [{ text: name.replaceAll('`', ''), link }];
    });
    return rows.length > 0 ? [{ head: head.split('|')[1]?.trim() ?? '', rows }] : [];
  });

/** A row of an index, with the pages below it: those that its own page lists, or those of the folder that it names. */
const itemOf = (from: string, row: Table['rows'][number], pages: Pages): Item[] => {
  const target = path.posix.join(path.posix.dirname(from), row.link);
  const folder = target.replace(/(\.md|\/)$/, '');
  const below = [...pages.keys()].filter((page) => path.posix.dirname(page) === folder);
  const link = target.endsWith('/') ? firstOf(target, below) : target;
  if (link === undefined || !pages.has(link)) return [];
  const item: Item = { text: row.text, link: `/${addressOf(link)}` };
  if (below.length === 0) return [item];
  const items = target.endsWith('/')
    ? below.map((page) => ({ text: titleOf(pages.get(page) ?? ''), link: `/${addressOf(page)}` }))
    : tablesOf(pages.get(target) ?? '')
        .flatMap(({ rows }) => rows)
        .filter((each) => below.includes(path.posix.join(path.posix.dirname(target), each.link)))
        .flatMap((each) => itemOf(target, each, pages));
  return [{ ...item, collapsed: true, items }];
};

/**
 * The sidebar, as the index of the documentation has it: a heading is a part, a table is a group whose name stands at its
 * head, a row is a page. A part with one table has no groups.
 */
export const sidebarOf = (pages: Pages): Item[] =>
  (pages.get(INDEX) ?? '')
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const groups = tablesOf(part).map(({ head, rows }) => ({
        text: capital(head),
        collapsed: true,
        items: rows.flatMap((row) => itemOf(INDEX, row, pages)),
      }));
      return {
        text: part.split('\n')[0] ?? '',
        items: groups.length === 1 ? (groups[0]?.items ?? []) : groups,
      };
    });
