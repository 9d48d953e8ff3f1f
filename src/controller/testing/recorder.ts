import type { EventInput, EventRecorder } from '../../kube/index.ts';

/** Takes note of what would be told. */
export const createTestRecorder = () => {
  const told: EventInput[] = [];
  const recorder: EventRecorder = {
    event: (input) => void told.push(input),
    run: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    dropped: 0,
  };
  return { recorder, told, reasons: (): string[] => told.map(({ reason }) => reason) };
};
