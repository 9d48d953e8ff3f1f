import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle } from '../../test/support/index.ts';
import { createLogger, type LogFields } from '../runtime/index.ts';
import { openConfigFile } from './config-file.ts';

const withTarget = (name: string): string => `targets: [{name: ${name}, type: slack, url: "https://h.example.com/"}]`;

const prepare = () => {
  const clock = createTestClock();
  const lines: LogFields[] = [];
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line) as LogFields), now: () => clock.now() });
  let content: string | undefined = withTarget('a');
  return {
    clock,
    problems: (): unknown[] => lines.filter(({ level }) => level === 'error').map(({ error }) => error),
    write: (text: string | undefined): void => {
      content = text;
    },
    open: () =>
      openConfigFile({
        path: '/etc/n.yaml',
        env: { clock, random: () => 0, log },
        readFile: () => (content === undefined ? Promise.reject(new Error('ENOENT')) : Promise.resolve(content)),
      }),
  };
};

describe('the file', () => {
  it('must be usable at first', async () => {
    const { open, write } = prepare();
    write('targets: 7');
    await assert.rejects(open(), /^NotificationsConfigError: \/etc\/n\.yaml: targets: must be a list of targets$/);
    write(undefined);
    await assert.rejects(open(), /\/etc\/n\.yaml: cannot be read; correct its path or permissions/);
  });

  it('is read again, and what cannot be used changes nothing and is logged once', async () => {
    const { open, write, clock, problems } = prepare();
    const file = await open();
    const names = (): string[] => [...file.current().targets.keys()];
    let changes = 0;
    const stop = new AbortController();
    const following = file.follow(stop.signal, () => (changes += 1));
    await clock.advance(60_000);
    assert.equal(changes, 0);

    write(withTarget('b'));
    await clock.advance(11_000);
    assert.deepEqual([names(), changes], [['b'], 1]);

    for (const wrong of ['targets: 7', undefined]) {
      write(wrong);
      await clock.advance(60_000);
      assert.deepEqual([names(), changes], [['b'], 1]);
    }
    assert.deepEqual(problems().length, 2);
    assert.match(String(problems()[0]), /\/etc\/n\.yaml: targets: must be a list/);

    write(withTarget('b'));
    await clock.advance(11_000);
    assert.equal(changes, 1, 'it is as it was');
    write(withTarget('c'));
    await clock.advance(11_000);
    assert.deepEqual([names(), changes], [['c'], 2]);
    stop.abort();
    await settle();
    await following;
  });
});
