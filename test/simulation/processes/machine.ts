import type { Clock } from '../../../src/runtime/index.ts';

/**
 * The machine that one process runs on. Everything that can wake the process goes through it: timers, responses and watch
 * events. So a paused machine stops the process as SIGSTOP does, and a killed one ends it as SIGKILL does.
 */
export interface Machine {
  readonly name: string;
  /** The process's clock: off by the skew of the machine when the process started. */
  readonly clock: Clock;
  readonly state: 'running' | 'paused' | 'dead';
  pause(): void;
  resume(): void;
  kill(): void;
  /** Runs `work` in the process: now, when it is resumed, or never. */
  deliver(work: () => void): void;
}

export interface MachineOptions {
  name: string;
  time: Clock;
  /** The skew of its clock, ms. */
  skewMs: number;
  /** Called with each time that its process reads from its clock. */
  onTimeRead: (at: number) => void;
  /** Called when it is killed. */
  killed: () => void;
}

export const createMachine = ({ name, time, skewMs, onTimeRead, killed }: MachineOptions): Machine => {
  let state: Machine['state'] = 'running';
  let held: (() => void)[] = [];

  const deliver = (work: () => void): void => {
    if (state === 'running') work();
    else if (state === 'paused') held.push(work);
  };
  return {
    name,
    clock: {
      now: () => {
        const at = time.now() + skewMs;
        onTimeRead(at);
        return at;
      },
      timer: (delayMs, fire) => {
        let cancelled = false;
        const timer = time.timer(delayMs, () =>
          deliver(() => {
            if (!cancelled) fire();
          }),
        );
        return {
          cancel() {
            cancelled = true;
            timer.cancel();
          },
        };
      },
    },
    get state() {
      return state;
    },
    pause() {
      if (state === 'running') state = 'paused';
    },
    resume() {
      if (state !== 'paused') return;
      state = 'running';
      const waiting = held;
      held = [];
      for (const work of waiting) deliver(work);
    },
    kill() {
      if (state === 'dead') return;
      state = 'dead';
      held = [];
      killed();
    },
    deliver,
  };
};
