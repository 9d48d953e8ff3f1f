// Puts known defects back one by one and has the simulator find them:
//   npm run sim:mutants -- [--most ROLLOUTS] [NAMES]
// A mutant that nothing finds, or whose place in the code is not there any more, fails the run.

import { fork } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Tally } from '../tally.ts';
import { mutants } from './list.ts';
import type { Mutant } from './mutant.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

interface Verdict {
  mutant: Mutant;
  /** Undefined: it survived. */
  kill: (Tally['failures'][number] & { plans: number; rollouts: number }) | undefined;
  trouble?: string;
}

/** A copy of the code with the defect in it. */
const plant = (mutant: Mutant): string => {
  const copy = mkdtempSync(path.join(tmpdir(), `edgeset-mutant-${mutant.name}-`));
  for (const part of ['src', 'test/simulation', 'test/sim', 'package.json'])
    cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const file = path.join(copy, mutant.file);
  const text = readFileSync(file, 'utf8');
  const places = text.split(mutant.find).length - 1;
  if (places !== 1) throw new Error(`its place is there ${places} times in ${mutant.file}: say anew what it changes`);
  writeFileSync(
    file,
    text.replace(mutant.find, () => mutant.replace),
  );
  return copy;
};

/** Plays plans on the copy until one breaks an invariant, or so many rollouts are done. */
const hunt = (copy: string, rollouts: number): Promise<Verdict['kill']> =>
  new Promise((resolve, reject) => {
    const args = ['--child', '--failures', '1', '--rollouts', String(rollouts)];
    const child = fork(path.join(copy, 'test/simulation/main.ts'), args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let complaint = '';
    child.stderr?.on('data', (text: Buffer) => (complaint += text.toString()));
    child.on('message', (message) => {
      const { failures, plans, rollouts: done } = message as Tally;
      resolve(failures[0] && { ...failures[0], plans, rollouts: done });
    });
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`the simulation ended without a word: ${complaint.slice(0, 500)}`)));
  });

const judge = async (mutant: Mutant, most: number): Promise<Verdict> => {
  let copy: string | undefined;
  try {
    copy = plant(mutant);
    return { mutant, kill: await hunt(copy, most) };
  } catch (error) {
    return { mutant, kill: undefined, trouble: error instanceof Error ? error.message : String(error) };
  } finally {
    if (copy !== undefined) rmSync(copy, { recursive: true, force: true });
  }
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { most: { type: 'string', default: '3000' } },
});
const chosen = mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
let survivors = 0;
const waiting = [...chosen];
const worker = async (): Promise<void> => {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const { kill, trouble } = await judge(mutant, Number(values.most));
    if (kill)
      console.log(
        `killed   ${mutant.name}: seed ${kill.seed}, after ${kill.rollouts} rollouts: ${kill.rule} ${kill.text.slice(0, 160)}`,
      );
    else {
      survivors += 1;
      console.log(`SURVIVED ${mutant.name}: ${trouble ?? `${values.most} rollouts`} (${mutant.story})`);
    }
  }
};
await Promise.all(Array.from({ length: Math.min(availableParallelism(), chosen.length) }, worker));
console.log(`mutants: ${chosen.length - survivors} killed, ${survivors} survived`);
process.exitCode = survivors > 0 ? 1 : 0;
