import { globSync } from 'node:fs';

/** Of the arguments, a plain word names all files of the suite whose path contains it; others are names of files, or patterns. */
export const selectFiles = (args: readonly string[], ofSuite: readonly string[]): string[] =>
  args.flatMap((arg) => {
    if (!/^[\w-]+$/.test(arg)) return [arg];
    const files = globSync(ofSuite).filter((file) => file.includes(arg));
    if (files.length === 0) throw new Error(`no file of this suite has "${arg}" in its path`);
    return files.toSorted();
  });
