import { signal } from '@preact/signals';
import { logIn, logOut, readSession, whenRefused } from './api.ts';
import { forget, start } from './store.ts';
import type { SessionInfo } from './types.ts';

/** Who looks at the page; undefined until the dashboard has said it. */
export const session = signal<SessionInfo | undefined>(undefined);

const enter = (info: SessionInfo): void => {
  session.value = info;
  if (info.mustLogIn === undefined) start();
  else forget();
};

/** Asks who looks at the page, and shows it what it may see. */
export const begin = async (): Promise<void> => {
  whenRefused(() => void check());
  try {
    enter(await readSession());
  } catch {
    // The page says that the dashboard does not answer, or refuses, and goes on trying.
    start();
  }
};

/** The dashboard has refused something: has the session ended? */
const check = async (): Promise<void> => {
  if (session.value === undefined || session.value.mustLogIn !== undefined) return;
  const info = await readSession().catch(() => undefined);
  if (info?.mustLogIn !== undefined) enter(info);
};

/** Rejects with a `RequestError` that says why not. */
export const enterWith = async (token: string): Promise<void> => enter(await logIn(token));

export const leave = async (): Promise<void> => {
  await logOut();
  enter(await readSession());
};
