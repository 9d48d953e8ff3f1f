import { planData, planLines, planRollout } from '../../commands/index.ts';
import { type ConnectionFlags, type Overrides, readName, structured, withCluster } from '../../view/index.ts';
import type { Io } from '../io.ts';
import { printLines } from '../terminal.ts';

export interface PlanFlags extends ConnectionFlags, Overrides {
  output?: 'json' | 'yaml';
}

export const showPlan = async (name: string, flags: PlanFlags, io: Io): Promise<void> => {
  const named = readName(name);
  const { output, maxUnavailable, partition, nodeSelector, unpaused } = flags;
  const overrides = { maxUnavailable, partition, nodeSelector, unpaused };
  const planned = await withCluster(flags, io, (connection) => planRollout(connection, named, overrides));
  if (output) io.stdout(structured(planData(planned), output));
  else printLines(planLines(planned), io);
};
