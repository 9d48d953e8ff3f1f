import { computed, signal } from '@preact/signals';
import { exchangeCode, logIn, logOut, readSession, whenRefused } from './api.ts';
import { askTabs, dropKey, givenCode, hasKey, holdKey, whenKeyChanges } from './key.ts';
import { forget, start } from './store.ts';
import type { SessionInfo } from './types.ts';

/** Another tab answers sooner, even in the background. */
const ANSWER_MS = 300;

/** Who looks at the page; undefined until the dashboard has said it. */
export const session = signal<SessionInfo | undefined>(undefined);
/** The page shows nothing before somebody logs in, or opens an address. */
export const isOut = computed(() => session.value?.mustLogIn !== undefined || session.value?.mustOpen === true);
/** Why the address that was opened last was refused; empty if it wasn't. */
export const refusal = signal('');

const enter = (info: SessionInfo): void => {
  session.value = info;
  if (isOut.value) forget();
  else start();
};

const exchange = async (): Promise<void> => {
  const code = givenCode();
  if (code === '') return;
  refusal.value = '';
  try {
    holdKey((await exchangeCode(code)).key);
  } catch (error) {
    refusal.value = error instanceof Error ? error.message : String(error);
  }
};

const look = async (): Promise<void> => {
  await exchange();
  const info = await readSession();
  if (info.mustOpen) {
    dropKey();
    askTabs();
    await new Promise((resolve) => {
      setTimeout(resolve, ANSWER_MS);
    });
    // The tab that gave it has had the page look again.
    if (hasKey()) return;
  }
  enter(info);
};

/** Asks who looks at the page, and shows it what it may see. */
export const begin = async (): Promise<void> => {
  whenRefused(() => void check());
  whenKeyChanges(() => void look().catch(() => undefined));
  try {
    await look();
  } catch {
    // The page says that the dashboard does not answer, or refuses, and continues trying.
    start();
  }
};

/** The dashboard has refused something: has the session ended? */
const check = async (): Promise<void> => {
  if (isOut.value) return;
  const info = await readSession().catch(() => undefined);
  if (info?.mustOpen) await look().catch(() => undefined);
  else if (info?.mustLogIn !== undefined) enter(info);
};

/** Rejects with a `RequestError` that says why not. */
export const enterWith = async (token: string): Promise<void> => enter(await logIn(token));

export const leave = async (): Promise<void> => {
  await logOut();
  enter(await readSession());
};
