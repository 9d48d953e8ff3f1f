import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPages } from './pages.ts';
import { type Item, sidebarOf } from './sidebar.ts';

const PAGES = new Map([
  [
    'README.md',
    [
      '# Documentation',
      'Read [the tutorial](tutorial.md) first.',
      '## Start\n\n| page | |\n|---|---|\n| [Tutorial](tutorial.md) | Twenty minutes |',
      '## Do\n\n| rollouts | |\n|---|---|\n| [Undo `it`](how-to/undo.md) | |\n\n| owners | |\n|---|---|\n| [Decide](how-to/decide.md) | |',
      '## Look up\n\n| page | |\n|---|---|\n| [Commands](cli.md) | |\n| [Decisions](decisions/) | |\n| [Elsewhere](../CHANGELOG.md) | |',
    ].join('\n\n'),
  ],
  [
    'cli.md',
    '# Commands\n\n| look | |\n|---|---|\n| [get](cli/get.md) | |\n| [the demo](tutorial.md) | |\n\n| act | |\n|---|---|\n| [undo](cli/undo.md) | |',
  ],
  ['cli/get.md', '# kubectl edgeset get'],
  ['cli/undo.md', '# kubectl edgeset undo'],
  ['decisions/0001-a.md', '# 1. A is `b`'],
  ['decisions/0002-c.md', '# 2. C'],
  ['how-to/decide.md', '# Decide'],
  ['how-to/undo.md', '# Undo'],
  ['tutorial.md', '# Tutorial'],
]);

test('the sidebar has the parts, the groups and the pages of the index', () => {
  assert.deepEqual(sidebarOf(PAGES).slice(0, 2), [
    { text: 'Start', items: [{ text: 'Tutorial', link: '/tutorial.html' }] },
    {
      text: 'Do',
      items: [
        { text: 'Rollouts', collapsed: true, items: [{ text: 'Undo it', link: '/how-to/undo.html' }] },
        { text: 'Owners', collapsed: true, items: [{ text: 'Decide', link: '/how-to/decide.html' }] },
      ],
    },
  ]);
});

test('below a page stand those that it lists of its folder, below a folder all of its pages by their titles', () => {
  assert.deepEqual(sidebarOf(PAGES)[2]?.items, [
    {
      text: 'Commands',
      link: '/cli.html',
      collapsed: true,
      items: [
        { text: 'get', link: '/cli/get.html' },
        { text: 'undo', link: '/cli/undo.html' },
      ],
    },
    {
      text: 'Decisions',
      link: '/decisions/0001-a.html',
      collapsed: true,
      items: [
        { text: '1. A is b', link: '/decisions/0001-a.html' },
        { text: '2. C', link: '/decisions/0002-c.html' },
      ],
    },
  ]);
});

test('the sidebar of this documentation leads to each of its pages once', () => {
  const linksOf = (items: readonly Item[]): string[] =>
    items.flatMap(({ link, items: below = [] }) => [
      // A folder has the link of its first page.
      ...(link === undefined || below.some((each) => each.link === link) ? [] : [link]),
      ...linksOf(below),
    ]);
  const pages = readPages();
  assert.deepEqual(
    linksOf(sidebarOf(pages)).toSorted(),
    [...pages.keys()]
      .filter((page) => page !== 'README.md')
      .map((page) => `/${page.replace(/\.md$/, '.html')}`)
      .toSorted(),
  );
});
