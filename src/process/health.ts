import { type Answer, text } from './http-server.ts';

/** Says what is missing; undefined when nothing is. */
export type ReadinessCheck = () => string | undefined;

export interface Health {
  /** Replaces the check of the same name. */
  check(name: string, check: ReadinessCheck): void;
  readyz(): Answer;
  /** Answering is the proof: an event loop that is stuck does not answer, and the kubelet's probe times out. */
  healthz(): Answer;
}

export const createHealth = (): Health => {
  const checks = new Map<string, ReadinessCheck>();
  return {
    check(name, check) {
      checks.set(name, check);
    },
    readyz() {
      const results = [...checks].map(([name, check]) => ({ name, missing: check() }));
      const lines = results.map(({ name, missing }) =>
        missing === undefined ? `[+] ${name} ok` : `[-] ${name}: ${missing}`,
      );
      const ready = results.every(({ missing }) => missing === undefined);
      return text(ready ? 200 : 503, [...lines, ready ? 'ready' : 'not ready'].join('\n'));
    },
    healthz: () => text(200, 'ok'),
  };
};
