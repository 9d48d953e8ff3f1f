import {
  type CallOptions,
  type KubeClient,
  KubeError,
  type KubeErrorCode,
  type KubeObject,
  type PatchOptions,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../kube/index.ts';
import { matches, parseSelector } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import { createObjects } from './objects.ts';

type Verb = 'get' | 'list' | 'create' | 'replace' | 'patch' | 'delete';

/** A request as it reached the server. */
export interface Call {
  verb: Verb;
  plural: string;
  name: string;
  body: unknown;
  at: number;
}

export type Fault =
  | { kind: 'refuse'; code: KubeErrorCode; status?: number }
  /** The response is lost; `happened` says whether the request was executed. */
  | { kind: 'lose'; happened: boolean }
  /** The request is in flight until released, and arrives then even if the caller no longer waits. */
  | { kind: 'hold' }
  /** The request is executed at once; its response is in flight until released. */
  | { kind: 'late' };

interface Rule {
  verb: Verb;
  plural: string;
  name: string | undefined;
  left: number;
  fault: Fault;
  fired: number;
  abandoned: number;
  released: Promise<void>;
}

const BOOKMARK_MS = 60_000;

/** Tests of a rollback count the patches of a DaemonSet's template, and not those of its conditions. */
const patched = ({ plural }: Pick<Resource, 'plural'>, options: PatchOptions | undefined): string =>
  plural === 'daemonsets' && options?.subresource ? `${plural}/${options.subresource}` : plural;

/** An API server in memory, as a client sees it, with faults that must occur. */
export const createTestApi = (clock: Clock) => {
  const objects = createObjects(clock);
  const calls: Call[] = [];
  const rules: Rule[] = [];
  const silent = new Set<string>();
  /** Versions that no watch delivers. */
  const lost = new Set<number>();
  const broken = new Set<string>();
  const wakers = new Set<() => void>();
  let seeDelete: (call: Call) => void = () => undefined;

  const wake = (): void => {
    for (const waker of wakers) waker();
  };
  objects.listen(wake);

  const request = async <T>(
    call: Omit<Call, 'at'>,
    options: CallOptions | undefined,
    perform: () => unknown,
  ): Promise<T> => {
    const signal = options?.signal;
    signal?.throwIfAborted();
    calls.push({ ...call, body: structuredClone(call.body), at: clock.now() });
    const rule = rules.find(
      ({ verb, plural, name, left }) =>
        left > 0 && verb === call.verb && plural === call.plural && (name ?? call.name) === call.name,
    );
    if (rule) {
      rule.left -= 1;
      rule.fired += 1;
    }
    const fault = rule?.fault;
    await Promise.resolve();
    if (fault?.kind === 'refuse')
      throw new KubeError(fault.code, `refused: ${fault.code}`, { status: fault.status ?? 400 });
    if (fault?.kind === 'lose') {
      if (fault.happened) perform();
      throw new KubeError('Timeout', 'no answer', { happened: 'unknown' });
    }
    const released = rule?.released ?? Promise.resolve();
    const done = fault?.kind === 'late' ? structuredClone(perform()) : undefined;
    const answer = released.then(() => (fault?.kind === 'late' ? done : structuredClone(perform())) as T);
    if (!signal) return answer;
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => {
      if (rule) rule.abandoned += 1;
      aborted.reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([answer, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      answer.catch(() => undefined);
    }
  };

  const selected = (object: KubeObject, { namespace, labelSelector }: WatchOptions): boolean => {
    if (namespace !== undefined && object.metadata?.namespace !== namespace) return false;
    if (labelSelector === undefined) return true;
    const parsed = parseSelector(labelSelector);
    return parsed.ok && matches(parsed.selector, object.metadata?.labels ?? {});
  };

  async function* watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const { plural } = resource;
    const { signal } = options;
    const bookmark = (initialEventsEnd: boolean): WatchEvent<T> => ({
      type: 'BOOKMARK',
      resourceVersion: String(objects.version),
      initialEventsEnd,
    });
    const refuseIfBroken = (): void => {
      if (broken.has(plural)) throw new KubeError('Transport', `no watch of ${plural}`);
    };
    await Promise.resolve();
    refuseIfBroken();
    let seen = Number(options.resourceVersion ?? 0);
    if (options.sendInitialEvents) {
      const present = objects.all(resource).filter((object) => selected(object, options));
      seen = objects.version;
      for (const object of present) yield { type: 'ADDED', object: structuredClone(object) as T };
      yield bookmark(true);
    }
    let bookmarkAt = clock.now() + BOOKMARK_MS;
    let cursor = objects.history.findIndex(({ version }) => version > seen);
    if (cursor < 0) cursor = objects.history.length;
    for (;;) {
      signal?.throwIfAborted();
      refuseIfBroken();
      while (!silent.has(plural) && cursor < objects.history.length) {
        const change = objects.history[cursor];
        cursor += 1;
        if (change?.plural === plural && !lost.has(change.version) && selected(change.object, options))
          yield { type: change.type, object: structuredClone(change.object) as T };
      }
      // The clock may be set back; the server's is not.
      const withinMs = Math.min(Math.max(0, bookmarkAt - clock.now()), BOOKMARK_MS);
      if ((await untilNews(withinMs, signal)) === 'news') continue;
      bookmarkAt = clock.now() + BOOKMARK_MS;
      if (!silent.has(plural) && !broken.has(plural)) yield bookmark(false);
    }
  }

  const untilNews = (withinMs: number, signal: AbortSignal | undefined): Promise<'news' | 'quiet'> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        timer.cancel();
        wakers.delete(onNews);
        signal?.removeEventListener('abort', onAbort);
      };
      const onNews = (): void => {
        end();
        resolve('news');
      };
      const onAbort = (): void => {
        end();
        reject(signal?.reason);
      };
      const timer = clock.timer(withinMs, () => {
        end();
        resolve('quiet');
      });
      wakers.add(onNews);
      signal?.addEventListener('abort', onAbort, { once: true });
    });

  const client: KubeClient = {
    server: 'memory',
    get: ({ plural, ...rest }, ref, options) =>
      request({ verb: 'get', plural, name: ref.name, body: undefined }, options, () =>
        objects.find({ plural, ...rest }, ref),
      ),
    list: (resource, options = {}) =>
      request({ verb: 'list', plural: resource.plural, name: '', body: undefined }, options, () => ({
        items: objects.all(resource).filter((object) => selected(object, options)),
        resourceVersion: String(objects.version),
      })),
    create: (resource, object, options) =>
      request(
        { verb: 'create', plural: resource.plural, name: object.metadata?.name ?? '', body: object },
        options,
        () => objects.create(resource, object),
      ),
    replace: (resource, object, options) =>
      request(
        { verb: 'replace', plural: resource.plural, name: object.metadata?.name ?? '', body: object },
        options,
        () => objects.replace(resource, object, options?.subresource),
      ),
    patch: (resource, ref, body, options) =>
      request({ verb: 'patch', plural: patched(resource, options), name: ref.name, body }, options, () =>
        objects.patch(resource, ref, body),
      ),
    delete: (resource, ref, options) => {
      const call = { verb: 'delete' as const, plural: resource.plural, name: ref.name, body: options?.preconditions };
      return request(call, options, () => {
        const left = objects.delete(resource, ref, options?.preconditions);
        seeDelete({ ...call, at: clock.now() });
        return left;
      });
    },
    watch,
    raw: () => Promise.resolve('ok'),
    close: () => Promise.resolve(),
  };

  return {
    client,
    objects,
    /** Every request so far, with any outcome. */
    calls: calls as readonly Call[],
    /** Names of the objects of all requests of this kind. */
    sent: (verb: Verb, plural: string): string[] =>
      calls.filter((call) => call.verb === verb && call.plural === plural).map(({ name }) => name),
    /** Applies the fault to the next `times` such requests (default 1). `release` lets held and late ones continue. */
    fault(verb: Verb, plural: string, fault: Fault, { name, times = 1 }: { name?: string; times?: number } = {}) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const released = fault.kind === 'hold' || fault.kind === 'late' ? promise : Promise.resolve();
      const rule: Rule = { verb, plural, name, left: times, fault, fired: 0, abandoned: 0, released };
      rules.unshift(rule);
      return {
        release: resolve,
        /** Ends the fault. */
        end(): void {
          rule.left = 0;
        },
        get fired(): number {
          return rule.fired;
        },
        /** Requests whose caller stopped waiting. */
        get abandoned(): number {
          return rule.abandoned;
        },
      };
    },
    /** Called when a delete has been executed. */
    onDelete(see: (call: Call) => void): void {
      seeDelete = see;
    },
    /** No watch delivers what `work` changes: only a list shows it. */
    loseEvents(work: () => void): void {
      const before = objects.version;
      work();
      for (let version = before + 1; version <= objects.version; version += 1) lost.add(version);
    },
    /** Watches of this kind deliver nothing, not even bookmarks, without an error. */
    silence(plural: string, isSilent = true): void {
      if (isSilent) silent.add(plural);
      else silent.delete(plural);
      wake();
    },
    /** Watches of this kind fail, and cannot be opened. */
    breakWatch(plural: string, isBroken = true): void {
      if (isBroken) broken.add(plural);
      else broken.delete(plural);
      wake();
    },
    /** Faults that never occurred: a test that leaves one proves nothing. */
    unfired: (): string[] =>
      rules.filter(({ fired }) => fired === 0).map(({ verb, plural, fault }) => `${fault.kind} ${verb} ${plural}`),
  };
};
export type TestApi = ReturnType<typeof createTestApi>;
