import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Change, changesOf, type Mutant } from './mutant.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/** Why the mutant does not fit the code; undefined when each of its texts occurs exactly once. */
export const findMismatch = (mutant: Mutant): string | undefined => {
  for (const { file, find } of changesOf(mutant)) {
    const places = readFileSync(path.join(ROOT, file), 'utf8').split(find).length - 1;
    if (places !== 1) return `its text occurs ${places} times in ${file}: update it`;
  }
  return undefined;
};

/** From now on this process loads modules with the defect; no file is changed. */
export const loadWith = (mutant: Mutant): void => {
  const changes = new Map<string, Change[]>();
  for (const change of changesOf(mutant)) {
    const url = pathToFileURL(path.join(ROOT, change.file)).href;
    changes.set(url, [...(changes.get(url) ?? []), change]);
  }
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const here = changes.get(url);
      if (!here || loaded.source == null) return loaded;
      const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: here.reduce((code, { find, replace }) => code.replace(find, () => replace), text) };
    },
  });
};
