import { parseDuration } from '../../src/runtime/index.ts';
import type { Operation } from '../simulation/plan/plan.ts';
import { planOf } from '../simulation/scenarios/scenario.ts';
import { createSimulation } from '../simulation/simulation.ts';
import { narrate } from './narrate.ts';
import type { Command, Story } from './parse.ts';

/** The status follows a second later at the latest. */
const STATUS_MS = 2_000;
const COMPLETES_WITHIN_MS = 30 * 60_000;

/** Plays a story on the simulation's cluster. Resolves with what happened in each block, and what was violated. */
export const playStory = async ({ blocks }: Story): Promise<{ happened: string[]; violations: readonly string[] }> => {
  const [first] = blocks;
  const [cluster] = first?.commands ?? [];
  if (cluster?.name !== 'cluster') throw new Error('a story begins with `cluster`');
  const { limit = 1, ...shape } = cluster.values;
  const plan = planOf({ settleSeconds: 10, ...shape, limit: JSON.stringify(limit).replaceAll('"', '') }, []);
  let lines: string[] = [];
  const simulation = createSimulation(plan, () => undefined, {
    steady: true,
    onChange(change, at) {
      for (const line of narrate(change)) lines.push(`${String(Math.floor(at / 1000)).padStart(5)} s  ${line}`);
    },
  });
  const { time, checker } = simulation;
  const perform = async ({ line, name, words, values }: Command): Promise<void> => {
    if (name === 'cluster') return;
    if (name === 'run') {
      await time.advanceUntil(() => false, parseDuration('run', words[0] ?? ''));
    } else if (name === 'until') {
      const isComplete = await time.advanceUntil(checker.isFinished, COMPLETES_WITHIN_MS);
      if (!isComplete) throw new Error(`${line}: ${checker.unfinished().join('; ')}\n${lines.join('\n')}`);
      await time.advanceUntil(() => false, STATUS_MS);
    } else simulation.execute({ at: 0, operation: { do: name, ...values } as Operation });
  };
  const happened: string[] = [];
  for (const { commands } of blocks) {
    for (const command of commands) await perform(command);
    happened.push(lines.join('\n'));
    lines = [];
  }
  return { happened, violations: checker.violations.map(({ invariant, text }) => `${invariant}: ${text}`) };
};
