import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, buildOnce, dependencyDir } from '../controlplane/build.ts';

const module = '../judges/argocd-rollout';
const ARGO = 'github.com/argoproj/argo-cd/v3';

/** The one file of Argo CD that doesn't compile with a version of its engine that can be had. */
const PATCHED = 'util/argo/diff/diff.go';

/** Two functions of the engine take a context, which Argo CD 3.5 doesn't give them. */
const patched = (text: string): string =>
  text
    .replace('import (', 'import (\n\t"context"')
    .replace('diff.DiffArray(', 'diff.DiffArray(context.Background(), ')
    .replace('diff.Diff(', 'diff.Diff(context.Background(), ');

/** A copy of a folder, made of links to its entries, but with `text` as the file at `path`. */
const copyWith = async (from: string, to: string, path: readonly string[], text: string): Promise<void> => {
  await mkdir(to, { recursive: true });
  const [changed = '', ...rest] = path;
  for (const name of await readdir(from)) if (name !== changed) await symlink(join(from, name), join(to, name));
  if (rest.length === 0) await writeFile(join(to, changed), text);
  else await copyWith(join(from, changed), join(to, changed), rest, text);
};

/** The program that leads a rollout over clusters as Argo CD's ApplicationSet controller does, built once from its own module. */
export const findArgoRollout = async (options: BuildOptions = {}): Promise<string> => {
  const { environment = process.env } = options;
  const cache = join(environment.XDG_CACHE_HOME || join(environment.HOME ?? homedir(), '.cache'), 'edgeset');
  const original = await dependencyDir(module, ARGO);
  const text = patched(await readFile(join(original, PATCHED), 'utf8'));
  const version = createHash('sha256').update(original).update(text).digest('hex').slice(0, 8);
  const copy = join(cache, `argo-cd-${version}`);
  const scratch = await mkdtemp(join(tmpdir(), 'edgeset-argo-'));
  try {
    if (
      !(await access(copy).then(
        () => true,
        () => false,
      ))
    ) {
      const fresh = `${copy}.${process.pid}`;
      await copyWith(original, fresh, PATCHED.split('/'), text);
      // Another process may have been faster.
      await rename(fresh, copy).catch(() => rm(fresh, { recursive: true }));
    }
    const workspace = join(scratch, 'go.work');
    const judge = join(import.meta.dirname, 'argocd-rollout');
    await writeFile(workspace, `go 1.26.3\n\nuse ${judge}\n\nreplace ${ARGO} => ${copy}\n`);
    const sources = { argocd: { module, main: '.', ldflags: '-s -w' } };
    const { argocd } = await buildOnce(`argocd-rollout-${version}`, sources, ['argocd'], {
      ...options,
      environment: { ...environment, GOWORK: workspace },
    });
    return argocd;
  } finally {
    await rm(scratch, { recursive: true });
  }
};
