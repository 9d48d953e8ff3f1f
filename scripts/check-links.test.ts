import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadLinks } from './check-links.ts';

const pages: Record<string, string> = {
  'docs/guide/other.md': '# Other\n\n## What `it` does, and why\n\n```\n# no heading\n```\n',
  'docs/images/a.png': '',
};
const found = (text: string): string[] => {
  const all: Record<string, string> = { ...pages, 'docs/guide/page.md': text };
  const tree = { exists: (file: string) => file in all, read: (file: string) => all[file] ?? '' };
  return deadLinks('docs/guide/page.md', tree).map(({ line, message }) => `${line}: ${message}`);
};

describe('links of the documentation', () => {
  it('may lead to files, headings, pictures, and elsewhere', () => {
    const links = [
      '[a](other.md)',
      '[b](other.md#what-it-does-and-why)',
      '[c](#here) ![d](../images/a.png) <img src="../images/a.png">',
      '[e](https://example.org/x.md) <http://127.0.0.1:10267/>',
      '# Here',
      '```\n[in code](nowhere.md)\n```',
    ];
    assert.deepEqual(found(links.join('\n')), []);
  });

  it('are found when they lead nowhere, with their line', () => {
    assert.deepEqual(found('x\n[a](gone.md) [b](other.md#no-heading)\n<img src="gone.png">'), [
      '2: links to gone.md: there is no docs/guide/gone.md',
      '2: links to other.md#no-heading: docs/guide/other.md has no such heading',
      '3: links to gone.png: there is no docs/guide/gone.png',
    ]);
  });
});
