import type { Clock } from '../../../src/runtime/index.ts';
import type { Answer, Request } from './agent.ts';

/** A request of an owner to the device, about what its page shows at that moment. */
export type OwnerRequest =
  /** With OpenYurt's path, which names the pod; `queue`: also while the device is offline. */
  | { ask: 'upgrade' | 'queue' }
  | { ask: 'approve' | 'reject' }
  | { ask: 'postpone'; ms: number }
  /** For the revision that was shown before this one. */
  | { ask: 'approve-older' }
  /** The last request again, byte by byte; if there was none, the first request, twice. */
  | { ask: 'again' };

export interface OwnerOptions {
  time: Clock;
  /** Undefined: the device does not respond. */
  send: (request: Request) => Promise<Answer | undefined>;
  /** When an owner who approves everything first looks at the page. Ms. */
  offsetMs: number;
}

export interface Owner {
  /** Resolves with whether a request was sent. */
  request(ask: OwnerRequest, times: number): Promise<boolean>;
  /** From now on the owner approves every update that the page shows, or none. */
  setAutoApprove(agrees: boolean): void;
}

interface ShownUpdate {
  pod: string | null;
  state: string;
  target: { revision: string | null };
  decision: { state: string; decision: { choice: string } } | null;
}

const EVERY_MS = 5_000;
/** The owner gives up after this many looks at the page. */
const LOOKS = 8;
const APP = 'default/app';

/** The owner of one device, who looks at its page and decides. */
export const createOwner = ({ time, send, offsetMs }: OwnerOptions): Owner => {
  const seen: string[] = [];
  let last: Request | undefined;
  let agrees = false;
  let looking = false;

  const look = async (): Promise<ShownUpdate | undefined> => {
    const answer = await send({ method: 'GET', path: `/edgeset.io/v1/updates/${APP}` });
    if (answer?.status !== 200) return undefined;
    const shown = JSON.parse(answer.text) as ShownUpdate;
    const { revision } = shown.target;
    if (revision !== null && seen.at(-1) !== revision) seen.push(revision);
    return shown;
  };
  const decision = (body: object): Request => ({
    method: 'POST',
    path: `/edgeset.io/v1/updates/${APP}/decision`,
    body: JSON.stringify(body),
  });
  const requestFor = (ask: OwnerRequest, shown: ShownUpdate): Request | undefined => {
    const {
      pod,
      target: { revision },
    } = shown;
    switch (ask.ask) {
      case 'upgrade':
      case 'queue':
        if (pod === null) return undefined;
        return {
          method: 'POST',
          path: `/openyurt.io/v1/namespaces/default/pods/${pod}/upgrade${ask.ask === 'queue' ? '?queue=true' : ''}`,
        };
      case 'approve':
      case 'reject':
        return revision === null ? undefined : decision({ revision, decision: ask.ask });
      case 'postpone':
        return revision === null
          ? undefined
          : decision({ revision, decision: 'postpone', until: new Date(time.now() + ask.ms).toISOString() });
      case 'approve-older': {
        const older = seen.at(-2);
        return older === undefined ? undefined : decision({ revision: older, decision: 'approve' });
      }
      case 'again':
        return last ?? requestFor({ ask: 'approve' }, shown);
    }
  };
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void time.timer(ms, resolve));

  const follow = async (): Promise<void> => {
    await wait(offsetMs);
    while (agrees) {
      const shown = await look();
      const choice = shown?.decision?.state === 'open' ? shown.decision.decision.choice : undefined;
      const isAsked = shown?.state === 'available' || choice === 'postpone' || choice === 'reject';
      // Alternates between the two APIs.
      if (shown && isAsked) {
        const wanted = requestFor({ ask: seen.length % 2 === 0 ? 'upgrade' : 'approve' }, shown);
        if (wanted) last = wanted;
        if (wanted) await send(wanted);
      }
      await wait(EVERY_MS);
    }
    looking = false;
  };

  return {
    async request(ask, times) {
      for (let looks = 0; looks < LOOKS; looks += 1) {
        const shown = await look();
        const wanted = shown && requestFor(ask, shown);
        // A page without a pending update has no buttons.
        if (wanted && (ask.ask === 'again' || shown.state !== 'current')) {
          if (ask.ask === 'again' && !last) await send(wanted);
          last = wanted;
          await Promise.all(Array.from({ length: times }, () => send(wanted)));
          return true;
        }
        await wait(EVERY_MS / 4);
      }
      return false;
    },
    setAutoApprove(next) {
      agrees = next;
      if (!agrees || looking) return;
      looking = true;
      void follow();
    },
  };
};
