import type { IncomingMessage } from 'node:http';
import type { HttpResponse, Rate, Site } from '../http/index.ts';
import type { Feed } from './feed.ts';
import type { Fleet } from './fleet.ts';
import type {
  CommandRequest,
  CommandResult,
  NodeDetails,
  OverviewMessage,
  RolloutEvents,
  RolloutRef,
  SessionInfo,
} from './messages.ts';
import type { RolloutFeed } from './rollout-feed.ts';

/** What one caller may see, and does with its own rights. */
export interface View {
  /** Identifies the caller: streams and commands are counted by it. */
  key: string;
  session: SessionInfo;
  overview(): Promise<Feed<OverviewMessage>>;
  /** Undefined for a rollout that the caller must not know of, or that does not exist; call `done` when it is no longer shown. */
  rollout(ref: RolloutRef): Promise<{ feed: RolloutFeed; done: () => void } | undefined>;
  node(feed: RolloutFeed, ref: RolloutRef, node: string): Promise<NodeDetails | undefined>;
  events(feed: RolloutFeed, ref: RolloutRef): Promise<RolloutEvents | undefined>;
  labels: Fleet['labels'];
  run(request: CommandRequest): Promise<CommandResult>;
  /** Aborts when the caller is no longer admitted; streams end then. */
  signal?: AbortSignal | undefined;
  /** Asked again and again while a stream is open. False, or a rejection, ends it. */
  mayStay(shown?: { namespace: string; kind: string }): Promise<boolean>;
}

/** Decides who may use the dashboard, and what each may see. */
export interface Gate {
  /** How often one caller may ask; undefined: as often as they like, because nobody else uses the dashboard. */
  rate?: Rate;
  /** How pages reach the server, once its port is known. */
  sites(port: number): readonly [Site, ...Site[]];
  /** Responds to requests for being admitted or leaving; undefined for all others. */
  enter(request: IncomingMessage, url: URL): Promise<HttpResponse | undefined>;
  admit(request: IncomingMessage): Promise<View | { refused: HttpResponse }>;
}

/** The value of the cookie. */
export const cookieOf = ({ headers }: IncomingMessage, name: string): string | undefined =>
  headers.cookie
    ?.split(';')
    .map((pair) => pair.trim().split('='))
    .find(([key]) => key === name)?.[1];
