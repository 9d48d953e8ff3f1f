import assert from 'node:assert/strict';
import { test } from 'node:test';

/** The responses to one attack: statuses, or closed connections. */
export interface Tally {
  /** Counts one request; undefined: the connection was closed without a response. */
  answered(status: number | undefined, why?: string): void;
  readonly tried: number;
}

interface Row {
  attack: string;
  tried: number;
  answers: string;
  writes: string;
}

/** Responses that mean that nothing was done. */
const isRefusal = (status: number | undefined): boolean => status === undefined || status >= 400;

export interface AttackOptions {
  /** Why this attack can't run here. */
  skip?: string | false;
  /** Counts writes instead of the log's own. */
  writes?: () => Promise<number>;
}

/** Records all attacks of the suite, to print them at its end. */
export const createAttackLog = (allWrites: () => Promise<number>) => {
  const rows: Row[] = [];

  const newTally = () => {
    const counts = new Map<string, number>();
    const accepted: string[] = [];
    let tried = 0;
    const tally: Tally = {
      answered(status, why) {
        const how = `${status ?? 'closed'}${why === undefined ? '' : ` ${why}`}`;
        tried += 1;
        counts.set(how, (counts.get(how) ?? 0) + 1);
        if (!isRefusal(status)) accepted.push(how);
      },
      get tried() {
        return tried;
      },
    };
    const told = (): string =>
      [...counts]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([how, count]) => `${how} x${count}`)
        .join(', ');
    return { tally, accepted, told };
  };

  return {
    /** An attack: every request must be refused, and nothing may be written. */
    attack(name: string, work: (tally: Tally) => Promise<void>, options: AttackOptions = {}): void {
      const { skip = false, writes = allWrites } = options;
      void test(name, { skip }, async () => {
        const before = await writes();
        const { tally, accepted, told } = newTally();
        await work(tally);
        const written = (await writes()) - before;
        rows.push({ attack: name, tried: tally.tried, answers: told(), writes: String(written) });
        assert.ok(tally.tried > 0, 'at least one request was sent');
        assert.deepEqual(accepted, [], 'every request is refused');
        assert.equal(written, 0, 'nothing is written to the API server');
      });
    },
    /** Many requests of which one may succeed: `work` checks and describes what was written. */
    once(name: string, work: (tally: Tally) => Promise<string>): void {
      void test(name, async () => {
        const { tally, told } = newTally();
        const written = await work(tally);
        rows.push({ attack: name, tried: tally.tried, answers: told(), writes: written });
      });
    },
    print(): void {
      const width = Math.max(...rows.map(({ attack }) => attack.length));
      const total = rows.reduce((sum, { tried }) => sum + tried, 0);
      console.log(`\nAttacks on the agent (${total} requests) and its responses:`);
      for (const { attack, tried, answers, writes: written } of rows)
        console.log(`  ${attack.padEnd(width)}  ${String(tried).padStart(4)} sent  writes: ${written}  ${answers}`);
    },
  };
};
