import { readFile, rm, writeFile } from 'node:fs/promises';
import { OptionError } from '../../runtime/index.ts';

const FLAG = '--kubeconfig-out';
const OWN_CONTEXT = 'edgeset';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';

const read = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new OptionError(FLAG, `${file} cannot be read (${codeOf(error)}): give another file`);
  }
};

const isOwn = (text: string): boolean => {
  if (text.trim() === '') return true;
  try {
    return (JSON.parse(text) as { 'current-context'?: unknown })['current-context'] === OWN_CONTEXT;
  } catch {
    return false;
  }
};

/** Throws an `OptionError` unless the file is absent, or was written by this command before. */
export const checkFree = async (file: string): Promise<void> => {
  const text = await read(file);
  if (text !== undefined && !isOwn(text))
    throw new OptionError(
      FLAG,
      `${file} is not a kubeconfig of this command and would be overwritten: give another file`,
    );
};

/** Writes a file that only its owner can read: it holds the administrator's token. Resolves with a function that removes it. */
export const writeKubeconfig = async (file: string, text: string): Promise<() => Promise<void>> => {
  try {
    // An existing file would keep its mode.
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw new OptionError(
      FLAG,
      `${file} cannot be written (${codeOf(error)}): give a file in a directory that you can write to`,
    );
  }
  return async () => {
    // Another cluster may have written the file since.
    if ((await read(file)) === text) await rm(file, { force: true });
  };
};
