import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from './en.ts';
import { languages, textFor } from './index.ts';

const languageOf = (...tags: string[]): string => textFor(tags).name;

test("the first of the reader's languages that there is counts", () => {
  assert.equal(languageOf('de-AT', 'en'), 'Deutsch');
  assert.equal(languageOf('fr-FR', 'de'), 'Deutsch');
  assert.equal(languageOf('EN-us', 'de'), 'English');
  for (const tag of ['zh', 'zh-CN', 'zh-SG', 'zh-Hans', 'zh-Hans-HK']) assert.equal(languageOf(tag), '简体中文', tag);
});

test('English is for all others, and simplified characters are not for those who read traditional ones', () => {
  assert.equal(languageOf(), 'English');
  assert.equal(languageOf('fr', 'x', ''), 'English');
  for (const tag of ['zh-TW', 'zh-HK', 'zh-Hant', 'zh-Hant-MO']) assert.equal(languageOf(tag, 'de'), 'Deutsch', tag);
});

/** Every text, with what stands for a value of the page. */
const textsOf = (value: unknown, path = ''): [string, string][] => {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    const say = value as (...values: unknown[]) => string;
    return [[path, path === '.live.all' ? say(['{1}']) : say('{1}', '{2}', '{3}')]];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => textsOf(each, `${path}.${key}`));
};

test('a translation says every text in its own words, with the same values in it', () => {
  const originals = textsOf(en);
  const equal = new Set(['.connection.online', '.connection.offline', '.state.failed', '.app.detail.revision']);
  for (const words of ['pod', 'namespace', 'download']) equal.add(`.app.detail.${words}`);
  for (const text of languages) {
    const said = new Map(textsOf(text));
    assert.deepEqual(
      [...said.keys()],
      originals.map(([path]) => path),
      text.name,
    );
    for (const [path, original] of originals) {
      const translated = said.get(path) ?? '';
      assert.notEqual(translated.trim(), '', `${text.name} ${path}`);
      const values = (words: string): string[] => [...new Set(words.match(/\{\d\}/g))].toSorted();
      assert.deepEqual(values(translated), values(original), `${text.name} ${path}`);
      if (text !== en && !equal.has(path) && /[a-z]{3}/i.test(original.replaceAll(/\{\d\}/g, '')))
        assert.notEqual(translated, original, `${text.name} ${path}`);
    }
  }
});
