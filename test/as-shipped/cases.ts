import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const tests = join(import.meta.dirname, '..');

/**
 * The suites that run the programs as they are shipped: on the real control plane, on real kubelets, or in a browser. The suites of
 * test/conformance are those that test/cluster runs there.
 */
const SHIPPED = [
  /^conformance\/(native|advanced|agent|plugin|prefetch|windows|errors|busy)\/[\w-]+\.ts$/,
  /^cluster\/([\w-]+\/)?[\w-]+\.test\.ts$/,
  /^chaos\/chaos\.test\.ts$/,
  /^nodes\/cases\/[\w-]+\.ts$/,
  /^browser\/(clusters|dashboard|login|stages)\.test\.ts$/,
  /^package\/[\w-]+\.test\.ts$/,
];

/** Those among them that call functions of the product in their own process. */
const IN_PROCESS = /^cluster\/(checks|kube-client|oracle|cluster|controlplane\/build)\.test\.ts$/;

interface Case {
  name: string;
  text: string;
}

const files = new Map<string, readonly Case[]>();

/** The cases of a file, each with its text up to the next one. */
const casesOf = (file: string): readonly Case[] => {
  const known = files.get(file);
  if (known) return known;
  const text = readFileSync(join(tests, file), 'utf8');
  const found = [...text.matchAll(/\b(?:rule|it|test)\(\s*(['"`])([^\n]*?)\1\s*,/g)];
  const cases = found.map(({ index, 2: name = '' }, at) => ({ name, text: text.slice(index, found[at + 1]?.index) }));
  files.set(file, cases);
  return cases;
};

/**
 * The case that proves a row: `FILE: NAME`, with the file below test/ and words of the case's name that no other case of the file
 * has, or a page of the documentation that runs as it is written. A second text is what the case says instead of the row's name, such as the
 * name of a helper.
 */
export type Proof = string | readonly [of: string, says: string];

/** By row. */
export type Proofs = Readonly<Record<string, Proof>>;

const says = (text: string, words: readonly string[]): boolean => words.some((word) => text.includes(word));

const judgePage = (file: string, words: readonly string[]): string | undefined => {
  const path = join(tests, '..', file);
  if (!existsSync(path)) return `there is no page ${file}`;
  // The pages that run, see test/conformance/docs/index.ts and the tests of the README.
  const runs = ['conformance/docs/index.ts', 'package/package.test.ts', 'package/readme.ts'].some((suite) =>
    readFileSync(join(tests, suite), 'utf8').includes(file),
  );
  if (!runs) return `no suite runs ${file}`;
  return says(readFileSync(path, 'utf8'), words) ? undefined : `${file} does not mention ${words.join(' or ')}`;
};

/** What is wrong with a proof of a row that a case calls by one of these words; undefined: nothing. */
export const judgeProof = (proof: Proof, rowWords: readonly string[]): string | undefined => {
  const [of, ...other] = typeof proof === 'string' ? [proof] : proof;
  const words = other.length > 0 ? other : rowWords;
  if (of.endsWith('.md')) return judgePage(of, words);
  const [file = '', ...rest] = of.split(': ');
  const name = rest.join(': ');
  if (!SHIPPED.some((suite) => suite.test(file)) || IN_PROCESS.test(file))
    return `${file} is no suite that runs the programs as they are shipped`;
  if (!existsSync(join(tests, file))) return `there is no file test/${file}`;
  const [found, ...others] = casesOf(file).filter((each) => each.name.includes(name));
  if (name === '' || !found) return `test/${file} has no case "${name}"`;
  if (others.length > 0) return `test/${file} has several cases "${name}"`;
  return says(found.text, words)
    ? undefined
    : `the case "${name}" of test/${file} does not mention ${words.join(' or ')}`;
};
