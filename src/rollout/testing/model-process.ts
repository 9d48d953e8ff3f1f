import { type Generator } from '../../../test/support/index.ts';
import { type VirtualClock } from '../../runtime/index.ts';
import type { Decision } from '../decision/decide.ts';
import type { Answer } from './model-api.ts';

/** How the world treats requests and watches at present; changed while a scenario runs. */
export interface Weather {
  /** The longest that a watched change is on its way, ms. */
  lagMs: number;
  /** Share of requests whose answer is lost; half of them were carried out. */
  lost: number;
  /** Share of requests that the API server refuses. */
  refused: number;
}

/** What a run has met: faults that were injected, and turns that a rollout took. */
export type Met =
  | 'lost, not done'
  | 'lost, done'
  | 'refused'
  | 'conflict'
  | 'took over'
  | Decision['actions'][number]['type'];

export type Lost = { ok: false; reason: 'Lost' };

export interface ProcessOptions {
  time: VirtualClock;
  chance: Generator;
  weather: Weather;
  met: (what: Met) => void;
}

const timeoutMs = 10_000;

/** What any process is: it does things after a while, sends requests, sleeps and wakes, and ends. */
export const createModelProcess = ({ time, chance, weather, met }: ProcessOptions) => {
  const waiting: (() => void)[] = [];
  let alive = true;
  let paused = false;
  let pausedAt = Number.POSITIVE_INFINITY;

  /** Everything that this process does goes through here: a paused one does it when it is woken. */
  const run = (work: () => void): void => {
    if (!alive) return;
    if (paused) waiting.push(work);
    else work();
  };
  const soon = (delayMs: number, work: () => void): void => void time.timer(delayMs, () => run(work));

  const call = <T>(perform: () => Answer<T>, answered: (answer: Answer<T> | Lost) => void): void =>
    soon(chance.between(0, 20), () =>
      time.timer(chance.between(2, 150), () => {
        const lost = chance.happens(weather.lost);
        if (lost && chance.happens(0.5)) {
          met('lost, not done');
          return soon(timeoutMs, () => answered({ ok: false, reason: 'Lost' }));
        }
        const refused = !lost && chance.happens(weather.refused);
        const answer: Answer<T> = refused ? { ok: false, reason: 'Refused' } : perform();
        if (lost) met('lost, done');
        else if (!answer.ok && answer.reason !== 'NotFound') met(refused ? 'refused' : 'conflict');
        if (lost) return soon(timeoutMs, () => answered({ ok: false, reason: 'Lost' }));
        return soon(chance.between(2, 150), () => answered(answer));
      }),
    );

  return {
    run,
    soon,
    call,
    /** Until when it has heard all that there was to hear, by true time. */
    heardUntil: (): number => Math.min(pausedAt, time.now()),
    pause(): void {
      paused = true;
      pausedAt = time.now();
    },
    wake(): void {
      paused = false;
      for (const work of waiting.splice(0)) run(work);
      pausedAt = Number.POSITIVE_INFINITY;
    },
    end(): void {
      alive = false;
      waiting.length = 0;
    },
    get alive(): boolean {
      return alive;
    },
  };
};
