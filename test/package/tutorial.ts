import assert from 'node:assert/strict';
import path from 'node:path';
import { type Block, blocksOf, readPage } from '../conformance/docs/page.ts';
import { type Background, startBackground } from './background.ts';
import type { Machine } from './installation.ts';

/** The blocks of code of one section whose language is given. */
const blocksIn = (page: string, heading: string): readonly Block[] => {
  const [, section = ''] = readPage(page).split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return blocksOf(own).filter(({ language }) => language !== '');
};

/** Commands that run until they are interrupted: each has its own terminal. */
const STAYS = /^npx edgeset (cluster|manager)\b/;

/** Two managers on one machine would want the same ports. */
const withoutPorts = (line: string): string =>
  line.replace(/^npx edgeset manager/, '$& --metrics-bind-address=0 --health-probe-bind-address=0');

/** Steps that need no agent, whose token and folder are those of a node. */
const STEPS = [
  '1. Start a cluster and the manager',
  '2. Roll out to the nodes that are online',
  '3. Stop a bad version',
];

/** Plays the first steps of the tutorial as they are written, with the package that the machine has. */
export const playTutorial = async (machine: Machine): Promise<void> => {
  const terminals: Background[] = [];
  const blocks = STEPS.flatMap((heading) => {
    const found = blocksIn('docs/tutorial.md', heading);
    assert.ok(found.length > 0, `the tutorial has no commands under ${heading}`);
    return found;
  });
  const { folder, environment } = machine;
  // As `bin/` of the checkout is on the PATH there.
  environment.PATH = `${path.join(folder, 'node_modules', '.bin')}${path.delimiter}${environment.PATH}`;
  let printed = '';
  try {
    for (const { language, text } of blocks) {
      if (language === 'text') {
        assert.ok(printed.endsWith(text), `the tutorial promises\n${text}but its commands print\n${printed}`);
        continue;
      }
      const lines = text.replaceAll('/tmp/', `${folder}/`).split('\n');
      const script = lines.filter((line) => !STAYS.test(line)).join('\n');
      if (script.trim() !== '') ({ stdout: printed } = await machine.run(script, { timeout: 120_000 }));
      for (const line of lines.filter((each) => STAYS.test(each))) {
        const terminal = startBackground(machine, withoutPorts(line));
        terminals.push(terminal);
        const [, kubeconfig] = await terminal.until(/^export KUBECONFIG=(.*)$|"starting"/m);
        if (kubeconfig !== undefined) environment.KUBECONFIG = kubeconfig;
      }
    }
  } catch (error) {
    throw new Error(`${String(error)}\n${terminals.map((each) => each.output()).join('\n')}`, { cause: error });
  } finally {
    for (const terminal of terminals.toReversed()) await terminal.stop();
  }
};
