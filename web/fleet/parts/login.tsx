import { useState } from 'preact/hooks';
import { enterWith, leave, refusal, session } from '../session.ts';
import { text } from '../text/index.ts';

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Asks for a token, which the page hands over and keeps nowhere. */
export const Login = () => {
  const [token, setToken] = useState('');
  const [why, setWhy] = useState(session.value?.mustLogIn ?? '');
  const [isBusy, setBusy] = useState(false);
  const enter = async (): Promise<void> => {
    setBusy(true);
    try {
      await enterWith(token);
    } catch (error) {
      setWhy(reasonOf(error));
      setBusy(false);
    }
  };
  return (
    <section class="login" aria-labelledby="login">
      <h1 id="login">{text.login.title}</h1>
      <p>{text.login.intro}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <label>
          {text.login.token}
          <input
            type="password"
            autocomplete="off"
            required
            value={token}
            aria-describedby="why"
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="main" disabled={isBusy}>
          {text.login.enter}
        </button>
      </form>
      <p id="why" class="bad" role="alert">
        {why}
      </p>
      <p class="soft">
        {text.login.serviceAccount} <code>kubectl create token NAME --namespace NAMESPACE</code>
      </p>
    </section>
  );
};

/** Of a dashboard on the user's own machine: this tab has opened no address of it. */
export const NoKey = () => (
  <section class="login" aria-labelledby="no-key">
    <h1 id="no-key">{text.noKey.title}</h1>
    <p>{text.noKey.what}</p>
    <p class="bad" role="alert">
      {refusal.value}
    </p>
  </section>
);

/** Who is logged in, and the way out. */
export const Account = () => {
  const { user = '', mayLeave = false } = session.value ?? {};
  if (user === '') return null;
  return (
    <span class="account">
      {user}
      {mayLeave && (
        <button type="button" onClick={() => void leave()}>
          {text.login.leave}
        </button>
      )}
    </span>
  );
};
