import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Cluster, Manager } from '../cluster.ts';
import { type Block, blocksOf, readPage } from './page.ts';
import { openShell } from './shell.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const bin = join(root, 'bin');
const BLOCK_MS = 150_000;
const START = 'the manager is started here';
const SKIPPED = 'not played: ';
/** Followed by a command. The page is about what to do after it. */
const HAPPENED = 'what happened: ';
/** Followed by the name of a file that the reader makes of the block. */
const SAVED = 'saved as ';

export interface PageRun {
  page: string;
  cluster: Cluster;
  /** Or where a note of the page says so. */
  manager: 'from the beginning' | 'where it is started';
  /** What the page takes for granted; it runs after a manager of the beginning has started. */
  prepare?: (cluster: Cluster) => Promise<void>;
  /** Folders of the repository that the reader has beside the commands, such as `deploy`. */
  folders?: readonly string[];
  /** More of the manager's flags, such as a Prometheus that the page takes for granted. */
  args?: readonly string[];
}

const squeezed = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '');

/** Everything that a reader of the page would type, as it is written, and what it shows of the output: its end. */
export const runPage = async ({
  page,
  cluster,
  manager: when,
  prepare,
  folders = [],
  args = [],
}: PageRun): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'edgeset-docs-'));
  const shell = openShell({
    cwd: folder,
    env: {
      PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
      HOME: folder,
      KUBECONFIG: cluster.kubeconfig,
    },
  });
  let manager: Manager | undefined;
  const start = async (): Promise<void> => {
    manager = await cluster.startManager({ namespace: 'default', args: ['--leader-elect=false', ...args] });
  };
  let played = 0;
  let output: { block: Block; text: string } | undefined;
  try {
    for (const each of folders) await symlink(join(root, each), join(folder, each));
    if (when === 'from the beginning') await start();
    await prepare?.(cluster);
    for (const block of blocksOf(readPage(page))) {
      const where = `${page}:${block.line}`;
      if (block.language === 'text' && output) {
        const shown = squeezed(block.text);
        const what = `${where}: the end of what ${page}:${output.block.line} prints`;
        assert.deepEqual(squeezed(output.text).slice(-shown.length), shown, what);
        output = undefined;
      } else if (block.note.startsWith(SAVED))
        await writeFile(join(folder, block.note.slice(SAVED.length)), block.text);
      else if (block.language === 'sh' && block.note === START) await start();
      else if (block.language === 'sh' && !block.note.startsWith(SKIPPED)) {
        const accident = block.note.startsWith(HAPPENED) ? `${block.note.slice(HAPPENED.length)}\n` : '';
        const text = await shell.run(`${accident}${block.text}`, BLOCK_MS).catch((error: unknown) => {
          throw new Error(`${where}: ${String(error)}`, { cause: error });
        });
        output = { block, text };
        played += 1;
      } else output = undefined;
    }
    assert.ok(played > 0, `${page} has commands in blocks of sh`);
  } catch (error) {
    const log = (await manager?.log())?.split('\n').slice(-15).join('\n') ?? '';
    throw new Error(`${String(error)}\n${log}`, { cause: error });
  } finally {
    shell.close();
    await manager?.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
