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
    throw new OptionError(FLAG, `${file} cannot be read (${codeOf(error)}): name another file`);
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

/** Throws an `OptionError` unless the file is free, or was written by this command before. */
export const checkFree = async (file: string): Promise<void> => {
  const text = await read(file);
  if (text !== undefined && !isOwn(text))
    throw new OptionError(FLAG, `${file} holds something else, which would be lost: name another file`);
};

/** For its owner's eyes only: it holds the token of the administrator. Resolves with how to take it away again. */
export const writeKubeconfig = async (file: string, text: string): Promise<() => Promise<void>> => {
  try {
    // The mode of a file that is there already would stay as it is.
    await rm(file, { force: true });
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw new OptionError(FLAG, `${file} cannot be written (${codeOf(error)}): name a file in a folder of your own`);
  }
  return async () => {
    // Another cluster may have taken the name meanwhile.
    if ((await read(file)) === text) await rm(file, { force: true });
  };
};
