// Runs one benchmark and prints its lines:  bench/run-one.ts NAME [--quick]; needs --expose-gc.

import { benchmarks } from './benchmarks.ts';
import { formatFigure } from './measure/figure.ts';

/** Exit code of a benchmark that ran and missed a goal. */
export const MISSED = 4;

const main = async (name: string | undefined, quick: boolean): Promise<number> => {
  const benchmark = benchmarks.find((each) => each.name === name);
  if (!benchmark) throw new Error(`no benchmark ${name}`);
  let missed = false;
  for await (const figure of await benchmark.run({ quick })) {
    process.stdout.write(`${formatFigure(figure)}\n`);
    missed ||= figure.met === false;
  }
  return missed ? MISSED : 0;
};

if (import.meta.main) process.exit(await main(process.argv[2], process.argv.includes('--quick')));
