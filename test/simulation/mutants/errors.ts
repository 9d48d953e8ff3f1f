import type { Mutant } from './mutant.ts';
import { at, history, release, test } from './plans.ts';

/** What lets something through that could not be computed, and how often it is tried again. */
export const ofErrors: readonly Mutant[] = [
  {
    name: 'passes-over-an-exception',
    whose: 'S18',
    story: 'an exception in a handler is logged, and the rollout continues without what it would have known',
    breaks: [],
    file: 'src/controller/internal-error.ts',
    find: '    } catch (error) {\n      fail(about, error);\n    }',
    replace: "    } catch (error) {\n      log.error('a handler failed', { error });\n    }",
    also: [
      {
        file: 'src/controller/reconciler.ts',
        find: "onFailed: (error) => fail('the state of its nodes', error),",
        replace: "onFailed: (error) => log.error('the ledger failed', { error }),",
      },
    ],
    hunt: test('src/controller/internal-error.test.ts'),
  },
  {
    name: 'decides-without-what-it-cannot-read',
    whose: 'S18',
    story: 'an object whose projection throws is left as it was, and nodes are updated all the same',
    breaks: ['S18'],
    file: 'src/controller/reconciler.ts',
    find: 'failures.failure() ?? handlers.failure() ?? options.sharedFailure();',
    replace: 'failures.failure();',
    hunt: history(
      {},
      at(9, { do: 'poison', kind: 'Node', path: 'status.conditions', forMs: 40_000 }),
      at(10, { do: 'burst', changes: 1 }),
      release(12),
      at(60, { do: 'recover' }),
    ),
  },
  {
    name: 'leaves-out-what-it-cannot-read',
    whose: 'S18',
    story: 'a cache forgets that the projection of an object has thrown',
    breaks: [],
    file: 'src/kube/cache/reflector-cache.ts',
    find: 'failed.set(`${step} ${key}`, { key, object, error, behind, retry: () => tryOnce(true) });',
    replace: 'void behind;',
    hunt: test('src/kube/cache/failures.test.ts'),
  },
  {
    name: 'retries-as-often-as-it-is-asked',
    whose: 'our own, S15',
    story: 'events make a reconcile that has failed run again before its back-off has ended',
    breaks: [],
    file: 'src/kube/queue/work-queue.ts',
    find: '} else if (retryAt > now && retryAt <= now + backoff.maxMs) timers.set(key, retryAt);',
    replace: '}',
    hunt: test('src/kube/queue/work-queue.test.ts'),
  },
];
