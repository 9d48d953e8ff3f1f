// Runs benchmarks, each in its own process:  bench/run.ts [--quick] [--strict] [names; all without]

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchmarks } from './benchmarks.ts';
import { formatFigure, seconds } from './measure/figure.ts';
import { describeMachine } from './measure/speed.ts';
import { MISSED } from './run-one.ts';

const USAGE = `usage: npm run bench -- [--quick] [--strict] [NAME...]

  --quick   smaller fleets
  --strict  exit with 1 when a goal is missed
`;

const parse = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });

const runOne = (name: string, quick: boolean): Promise<number> =>
  new Promise((resolve, reject) => {
    const { flags = [] } = benchmarks.find((each) => each.name === name) ?? {};
    const args = [
      ...flags,
      '--expose-gc',
      join(import.meta.dirname, 'run-one.ts'),
      name,
      ...(quick ? ['--quick'] : []),
    ];
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    const pass = (signal: NodeJS.Signals) => (): void => void child.kill(signal);
    const [onTerm, onInt] = [pass('SIGTERM'), pass('SIGINT')];
    process.once('SIGTERM', onTerm).once('SIGINT', onInt);
    child.once('error', reject);
    child.once('exit', (code) => {
      process.off('SIGTERM', onTerm).off('SIGINT', onInt);
      resolve(code ?? 1);
    });
  });

const main = async (): Promise<number> => {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const known = benchmarks.map(({ name }) => name);
  if (values.help) {
    process.stdout.write(`${USAGE}\nbenchmarks: ${known.join(', ')}\n`);
    return 0;
  }
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`no benchmark ${unknown.join(', ')}: there are ${known.join(', ')}\n`);
    return 2;
  }
  process.stdout.write(`${formatFigure(describeMachine())}\n`);
  const failed: string[] = [];
  let missed = false;
  for (const name of positionals.length > 0 ? positionals : known) {
    const startedAt = performance.now();
    const code = await runOne(name, values.quick);
    process.stdout.write(`${name} took ${seconds(performance.now() - startedAt)}\n`);
    if (code === MISSED) missed = true;
    else if (code !== 0) failed.push(name);
  }
  if (failed.length > 0) process.stderr.write(`failed: ${failed.join(', ')}\n`);
  return failed.length > 0 || (missed && values.strict) ? 1 : 0;
};

process.exitCode = await main();
