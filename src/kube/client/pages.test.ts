import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPods } from '../testing/index.ts';
import { KubeError } from './errors.ts';
import { pagesOf } from './pages.ts';
import type { KubeClient, ListOptions } from './types.ts';

const pod = (name: string) => ({ metadata: { name, namespace: 'a', uid: name } });

/** Answers with these pages, and notes what it was asked. */
const serving = (pages: readonly { names: readonly string[]; continue?: string }[]) => {
  const asked: ListOptions[] = [];
  const list = async (_resource: unknown, options: ListOptions = {}) => {
    asked.push(options);
    const { names, continue: next } = pages[asked.length - 1] ?? { names: [] };
    return { items: names.map(pod), resourceVersion: '7', ...(next !== undefined && { continue: next }) };
  };
  return { asked, client: { list } as unknown as Pick<KubeClient, 'list'> };
};

const namesOf = async (client: Pick<KubeClient, 'list'>): Promise<string[]> => {
  const names: string[] = [];
  for await (const { items } of pagesOf(client, testPods, { namespace: 'a' }, 2))
    names.push(...items.map(({ metadata }) => metadata?.name ?? ''));
  return names;
};

test('reads pages one after another, each with the continue token of the one before', async () => {
  const { client, asked } = serving([
    { names: ['a', 'b'], continue: 'x' },
    { names: ['c'], continue: 'y' },
    { names: [] },
  ]);
  assert.deepEqual(await namesOf(client), ['a', 'b', 'c']);
  assert.deepEqual(asked, [
    { namespace: 'a', limit: 2 },
    { namespace: 'a', limit: 2, continue: 'x' },
    { namespace: 'a', limit: 2, continue: 'y' },
  ]);
});

test('refuses a list whose continue token repeats', async () => {
  const { client } = serving([
    { names: ['a'], continue: 'x' },
    { names: ['b'], continue: 'x' },
  ]);
  await assert.rejects(namesOf(client), (error: unknown) => error instanceof KubeError && error.code === 'Malformed');
});

test('reads pages of objects that are too large together in smaller ones, and grows them again', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
  const limits: number[] = [];
  let asked = 0;
  const list = async (_resource: unknown, options: ListOptions = {}) => {
    const { limit = 0 } = options;
    const from = Number(options.continue ?? 0);
    asked += 1;
    // The first ten objects are large: three of them fill a response.
    if (from < 10 && limit > 3) throw new KubeError('TooLarge', 'too large');
    limits.push(limit);
    const to = from + limit;
    return {
      items: names.slice(from, to).map(pod),
      resourceVersion: '7',
      ...(to < names.length && { continue: String(to) }),
    };
  };
  const read: string[] = [];
  const client = { list } as unknown as Pick<KubeClient, 'list'>;
  for await (const { items } of pagesOf(client, testPods, {}, 16))
    read.push(...items.map(({ metadata }) => metadata?.name ?? ''));
  assert.deepEqual(read, names);
  assert.ok(limits.every((limit) => limit <= 16) && limits.includes(16), limits.join());
  assert.ok(asked <= 20, `${asked} requests`);
});

test('gives up on a single object that is too large', async () => {
  const list = () => Promise.reject(new KubeError('TooLarge', 'too large'));
  await assert.rejects(namesOf({ list }), { code: 'TooLarge' });
});
