import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** A fenced block of a page of the documentation. */
export interface Block {
  /** What stands after the fence: `sh`, `yaml`, `text`; empty for none. */
  language: string;
  text: string;
  /** Of the fence, from 1. */
  line: number;
  /** The comment right before the block, for the runner of the page; empty if there is none. */
  note: string;
}

const FENCE = /^( *)```(\S*)\n([^]*?)^ *```$/gm;
const NOTE = /<!-- ([^>]+) -->\s*$/;

/** Page, as its path from the root of the repository. */
export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

/** All fenced blocks of a page, in their order; the indentation of a list is taken off. */
export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(FENCE)].map(({ 0: whole, 1: indent = '', 2: language = '', 3: body = '', index }) => {
    const before = text.slice(0, index);
    return {
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      line: before.split('\n').length + (whole.startsWith('\n') ? 1 : 0),
      note: NOTE.exec(before)?.[1] ?? '',
    };
  });
