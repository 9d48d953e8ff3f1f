// Finds links of the documentation that lead nowhere: to a file or folder that is not there, or to no heading of it.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { reportViolations, type Violation } from './violation.ts';

/** What a checker may know of the tree. */
export interface Tree {
  exists(file: string): boolean;
  read(file: string): string;
}

const LINK = /\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g;
const ELSEWHERE = /^[a-z][a-z+.-]*:/i;

const withoutCode = (text: string): string =>
  text.replaceAll(/^```.*?^```/gms, (block) => block.replaceAll(/[^\n]/g, ''));

/** As GitHub names the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const anchorsOf = (text: string): Set<string> =>
  new Set([...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)));

/** The links of one page of Markdown that lead nowhere. */
export const deadLinks = (file: string, tree: Tree): Violation[] =>
  withoutCode(tree.read(file))
    .split('\n')
    .flatMap((content, index) =>
      [...content.matchAll(LINK)].flatMap(([, written, image]): Violation[] => {
        const link = written ?? image ?? '';
        if (ELSEWHERE.test(link)) return [];
        const [to = '', anchor] = link.split('#', 2);
        const target = to === '' ? file : path.posix.join(path.posix.dirname(file), to);
        const line = index + 1;
        if (!tree.exists(target)) return [{ file, line, message: `links to ${link}: there is no ${target}` }];
        if (anchor === undefined || anchorsOf(tree.read(target)).has(anchor)) return [];
        return [{ file, line, message: `links to ${link}: ${target} has no such heading` }];
      }),
    );

if (import.meta.main) {
  const options = { encoding: 'utf8' } as const;
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'], options);
  const pages = [...new Set(listed.split('\0'))].filter((file) => file !== '' && existsSync(file));
  const tree: Tree = { exists: existsSync, read: (file) => readFileSync(file, 'utf8') };
  reportViolations(pages.flatMap((file) => deadLinks(file, tree)));
}
