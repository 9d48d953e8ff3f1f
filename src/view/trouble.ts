import { type Clock, type Logger, silentLogger } from '../runtime/index.ts';
import { serverMessage } from './errors.ts';

/** A connection that hangs is given up after this time. */
const ATTEMPT_MS = 6_000;

/** Remembers the last failure of a watch until its next attempt should have ended: a watch that resumes says nothing. */
export const createTrouble = (clock: Pick<Clock, 'now'>, changed: () => void = () => undefined) => {
  let last = { text: '', until: 0 };
  const log: Logger = {
    ...silentLogger,
    warn(_msg, { error, retryMs } = {}) {
      const text = `The watch failed (${serverMessage(error)}); retrying.`;
      last = { text, until: clock.now() + (typeof retryMs === 'number' ? retryMs : 0) + ATTEMPT_MS };
      changed();
    },
    with: () => log,
  };
  return { log, text: (): string => (clock.now() < last.until ? last.text : '') };
};
