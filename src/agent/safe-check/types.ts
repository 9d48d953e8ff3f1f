import type { DaemonSetRef } from '../types.ts';

export interface SafeAnswer {
  safe: boolean;
  /** One line for people. */
  message: string;
}

/** The device's own word on whether it may be disturbed now. */
export interface SafeCheck {
  readonly configured: boolean;
  /** What it said last; `safe` is null until it was asked. */
  readonly last: { safe: boolean | null; message: string };
  /** Never rejects: whatever goes wrong is not safe. Without a check it is always safe. */
  ask(signal: AbortSignal, about?: DaemonSetRef & { revision: string }): Promise<SafeAnswer>;
}
