import type { PlainRequest, PlainResponse } from '../../../embedded/index.ts';
import type { WatchEvent } from '../../../src/kube/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { Machine } from '../processes/machine.ts';
import type { Call, CallFault } from './call.ts';
import type { Credentials } from './credentials.ts';
import type { KnownTexts } from './known-texts.ts';
import type { Link } from './link.ts';
import type { ServerTrouble } from './server-faults.ts';
import type { WatchCache } from './watch-cache.ts';
export interface ConnectionOptions {
  /** The API server. */
  handle: (request: PlainRequest) => Promise<PlainResponse>;
  time: Clock;
  machine: Machine;
  link: Link;
  watchCache: WatchCache;
  credentials: Credentials;
  texts: KnownTexts;
  /** Called once for each call, before it is sent. */
  faultOf: (call: Call) => CallFault | undefined;
  /** Called once for each call that reaches the server. */
  troubleOf: (call: Call) => ServerTrouble | undefined;
  observer: ConnectionObserver;
}

/** Observes the calls and watches of one process. */
export interface ConnectionObserver {
  /** The process sends a call. */
  onSend(call: Call): void;
  /** A call reaches the server. Returns what to call once it was executed, with the error if it failed. */
  onArrival(call: Call): (error: string | undefined) => void;
  /** The process receives a response; it receives an error, with the status of the response if there is one, or stops waiting. */
  onResponse(call: Call, object: unknown): void;
  onFailure(call: Call, status?: number): void;
  /** The process receives a list, as it does before a watch without a snapshot; `watch` names what it selects. */
  onListed(watch: string, plural: string, items: readonly object[]): void;
  /** A watch is opened, with a snapshot or for new events only; `watch` names what it selects. */
  onWatchOpened(watch: string, plural: string, withSnapshot: boolean): void;
  /** The watch has ended, or the process has closed it. */
  onWatchClosed(watch: string, plural: string): void;
  /** The process receives an event. */
  onWatchEvent(watch: string, plural: string, event: WatchEvent<object>): void;
}

/** Observes what a process sends and receives. */
export type ProcessObserver = Pick<
  ConnectionObserver,
  'onSend' | 'onResponse' | 'onFailure' | 'onListed' | 'onWatchOpened' | 'onWatchEvent' | 'onWatchClosed'
>;
