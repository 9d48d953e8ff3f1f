/** A controller as a process runs it: its caches always, its writes only while leading. */
export interface Controller {
  /** Runs the caches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Reconciles until the signal aborts; resolves when every in-flight write has settled. */
  lead(signal: AbortSignal): Promise<void>;
  /** The caches have synced. */
  synced(): boolean;
}

/** An API that the API server must serve, and how to install it. */
export interface RequiredApi {
  group: string;
  version: string;
  plural: string;
  remedy: string;
}
