import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import { errnoOf } from '../errno.ts';
import { asStorageError, StorageError, type StorageErrorCode } from './errors.ts';

const PRIVATE = 0o700;
/** At the root of its own file system, on ext4. */
const OF_THE_FILE_SYSTEM: ReadonlySet<string> = new Set(['lost+found']);
const SHOWN = 3;

const open = async (dir: string): Promise<fs.FileHandle> => {
  try {
    return await fs.open(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const refused = (code: StorageErrorCode, what: string) => new StorageError(code, `${dir} ${what}`, error);
    const errno = errnoOf(error);
    if (errno === 'ENOENT') throw refused('Denied', "does not exist: mount the node's directory there, or create it");
    const found = await fs.lstat(dir).catch(() => undefined);
    if (found?.isSymbolicLink())
      throw refused('Unsafe', 'is a symbolic link: remove it, or give the directory that it refers to');
    if (errno === 'ENOTDIR') throw refused('Denied', 'is not a directory: remove it, or give another directory');
    // Without the capability for it, root can't open a private directory of another user.
    if (errno === 'EACCES' && found)
      throw refused('Denied', `belongs to uid ${found.uid} and is private: empty it and chown it to root on the node`);
    throw asStorageError(error, `cannot prepare ${dir}`);
  }
};

const refuseForeign = async (dir: string, owner: number, uid: number): Promise<void> => {
  const found = (await fs.readdir(dir)).filter((name) => !OF_THE_FILE_SYSTEM.has(name)).toSorted();
  if (found.length === 0) return;
  const names = [...found.slice(0, SHOWN), ...(found.length > SHOWN ? ['...'] : [])].join(', ');
  throw new StorageError(
    'Unsafe',
    `${dir} belongs to uid ${owner} and holds ${names}: if that is the state of an agent, run chown -R ${uid}:${uid} on the node's directory; otherwise give another directory`,
  );
};

/**
 * Gives an empty directory to the agent's user, for a process of root that may do little more than CHOWN. Resolves with
 * whether it had to change something. What belongs to others and is in use keeps its owner: the path may be wrong.
 */
export const prepareDirectory = async (dir: string, uid: number): Promise<boolean> => {
  // Root without further capabilities can't open the agent's private directory, and needn't.
  const before = await fs.lstat(dir).catch(() => undefined);
  if (before?.isDirectory() && before.uid === uid) return false;
  const handle = await open(dir);
  try {
    const { uid: owner } = await handle.stat();
    await refuseForeign(dir, owner, uid);
    // In this order: afterwards, it is no longer root's.
    await handle.chmod(PRIVATE);
    await handle.chown(uid, uid);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EPERM')
      throw new StorageError(
        'Denied',
        `cannot give ${dir} to uid ${uid}: run this as root with the capability CHOWN, and chown the directory to root on the node`,
        error,
      );
    throw asStorageError(error, `cannot give ${dir} to uid ${uid}`);
  } finally {
    await handle.close();
  }
};
