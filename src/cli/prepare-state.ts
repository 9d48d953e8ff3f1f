import { OptionError } from '../runtime/index.ts';
import type { AddCommand } from './program.ts';
import { examples } from './usage.ts';

/** The user of the agent in its image and its manifests. */
const AGENT_UID = 10267;
const LARGEST_UID = 0xffff_fffe;

const parseUid = (text: string): number => {
  if (/^\d{1,10}$/.test(text) && Number(text) > 0 && Number(text) <= LARGEST_UID) return Number(text);
  throw new OptionError(
    '--uid',
    `"${text}" is not the uid of a user other than root: give a number such as ${AGENT_UID}`,
  );
};

/** For an init container of root: the agent itself never runs as root, and its image has no chown. */
export const addPrepareStateCommand: AddCommand = (program, { io }) => {
  program
    .command('prepare-state')
    .description("give an empty state directory to the agent's user, and end")
    .requiredOption('--state-dir <folder>', 'directory for decisions and the cache')
    .option('--uid <uid>', `the agent's user and group (default: ${AGENT_UID})`)
    .addHelpText('after', examples(['prepare-state --state-dir /state', 'As root, with the capability CHOWN']))
    .action(async (flags: { stateDir: string; uid?: string }) => {
      const uid = parseUid(flags.uid ?? String(AGENT_UID));
      const { prepareDirectory } = await import('../agent/index.ts');
      const changed = await prepareDirectory(flags.stateDir, uid);
      io.stderr(`edgeset-agent: ${flags.stateDir} ${changed ? 'now belongs' : 'belongs'} to uid ${uid}\n`);
    });
};
