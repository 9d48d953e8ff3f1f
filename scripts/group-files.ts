import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Files that share a process: neighbors load the same modules, which takes most files longer than their tests. */
const SHARE = 24;

/** Hooks outside of any `describe` run for all tests of the process, whose environment, signals and clock are shared. */
const NEEDS_OWN_PROCESS = /^(?:before|after)(?:Each)?\(|\bprocess\.(?:emit|env\.\w+ = )|\bmock\./m;

const isAlone = (file: string): boolean => NEEDS_OWN_PROCESS.test(readFileSync(file, 'utf8'));

const inChunks = (files: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(files.length / SHARE) }, (_, index) =>
    files.slice(index * SHARE, (index + 1) * SHARE),
  );

/**
 * Writes a module for each process of the suite, which imports its test files, into the folder: first the longest, each by
 * itself, then the others. Node's test runner takes modules in the order of their names.
 */
export const groupFiles = (patterns: readonly string[], longest: readonly string[], folder: string): string[] => {
  const all = globSync(patterns).toSorted();
  const missing = longest.filter((file) => !all.includes(file));
  if (missing.length > 0) throw new Error(`no test files: ${missing.join(', ')}`);
  const others = all.filter((file) => !longest.includes(file));
  const alone = [...longest, ...others.filter(isAlone)].map((file) => [file]);
  return [...alone, ...inChunks(others.filter((file) => !isAlone(file)))].map((files, index) => {
    const group = path.join(folder, `${String(index).padStart(3, '0')}.mjs`);
    writeFileSync(group, files.map((file) => `import ${JSON.stringify(path.resolve(file))};\n`).join(''));
    return group;
  });
};
