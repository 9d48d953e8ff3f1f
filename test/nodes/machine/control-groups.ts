import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
const isUnified = existsSync(join(ROOT, 'cgroup.controllers'));

/** Where control groups hang: one tree, or with version 1 a tree of each controller. */
const trees = async (): Promise<string[]> => {
  if (isUnified) return [ROOT];
  const entries = await readdir(ROOT, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(ROOT, name));
};

// A new cpuset group has no CPU until it is given some, and takes no process before.
const inheritCpus = async (group: string): Promise<void> => {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const parent = await readFile(join(group, '..', file), 'utf8').catch(() => undefined);
    if (parent !== undefined) await writeFile(join(group, file), parent);
  }
};

// With version 2, a group hands controllers on only when told to.
const handOn = async (group: string): Promise<void> => {
  const controllers = (await readFile(join(group, 'cgroup.controllers'), 'utf8')).trim().split(' ');
  await writeFile(join(group, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
};

/** Makes the control group `path` with its parents in every tree. A kubelet refuses to start without its own. */
export const createControlGroup = async (path: string): Promise<void> => {
  for (const tree of await trees()) {
    let group = tree;
    for (const part of path.split('/')) {
      if (isUnified) await handOn(group);
      group = join(group, part);
      await mkdir(group, { recursive: true });
      if (!isUnified) await inheritCpus(group);
    }
  }
};

const removeTree = async (group: string): Promise<void> => {
  const entries = await readdir(group, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(group, entry.name));
  await rmdir(group).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
};

/** Removes a control group whose processes have all ended, with those below it. */
export const removeControlGroup = async (path: string): Promise<void> => {
  for (const tree of await trees()) await removeTree(join(tree, path));
};

/** The names of the groups at the top whose name starts with `prefix`. */
export const controlGroups = async (prefix: string): Promise<string[]> => {
  const names = await Promise.all((await trees()).map((tree) => readdir(tree)));
  return [...new Set(names.flat().filter((name) => name.startsWith(prefix)))];
};
