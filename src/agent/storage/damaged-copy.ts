import path from 'node:path';
import type { JournalFiles } from './files.ts';

// A disk that fails again and again must not fill itself with copies.
const KEPT = 5;

/** Keeps `bytes`, durably, under a name that is not in use, and returns that. */
export const keepDamagedCopy = async (files: JournalFiles, file: string, bytes: Buffer): Promise<string> => {
  const dir = path.dirname(file);
  const prefix = `${path.basename(file)}.damaged-`;
  const numbers = (await files.list(dir))
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => Number(entry.slice(prefix.length)))
    .filter((number) => Number.isSafeInteger(number))
    .toSorted((a, b) => a - b);
  const aside = `${file}.damaged-${(numbers.at(-1) ?? 0) + 1}`;
  const copy = await files.create(aside);
  try {
    await copy.write(bytes, 0);
    await copy.sync();
  } finally {
    await copy.close();
  }
  await files.syncDirectory(dir);
  for (const number of numbers.slice(0, Math.max(0, numbers.length + 1 - KEPT)))
    await files.remove(`${file}.damaged-${number}`);
  return aside;
};
