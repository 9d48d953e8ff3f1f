import { KeyButtons } from '../keys/buttons.tsx';
import { linkTo, route } from '../route.ts';
import { isOut, session } from '../session.ts';
import { heardAt, isOld, link, trouble } from '../store.ts';
import { text } from '../text/index.ts';
import { isHeld, isWall, leaveWall } from '../wall/wall.ts';
import { Account } from './login.tsx';

const timeOf = (at: number): string => new Date(at).toLocaleTimeString(text.language, { hourCycle: 'h23' });

/** Whether the dashboard and the cluster answer. */
const Live = () => (
  <span class={isOld.value ? 'live old' : 'live'} role="status">
    <span class="dot" aria-hidden="true" />
    {link.value === 'live' && !isOld.value ? (
      <>
        {text.link.live} <time class="soft">{heardAt.value > 0 && timeOf(heardAt.value)}</time>
      </>
    ) : link.value === 'loading' ? (
      text.link.loading
    ) : (
      text.link.lost
    )}
  </span>
);

/** While somebody uses a screen on a wall. */
const Held = () =>
  isHeld.value ? (
    <>
      <span class="soft" role="status">
        {text.wall.held}
      </span>
      <button type="button" onClick={leaveWall}>
        {text.wall.leave}
      </button>
    </>
  ) : null;

/** Where the reader is, who they are, and whether what they see is of now. */
export const TopBar = () => {
  const rollout = isOut.value ? undefined : route.value.rollout;
  const cluster = rollout?.cluster ?? session.value?.cluster ?? '';
  return (
    <header class="top">
      <nav aria-label={text.page.where}>
        <a class="brand" href={linkTo(undefined)} aria-current={rollout ? undefined : 'page'}>
          {text.page.product}
        </a>
        {cluster !== '' && <span class="soft">{cluster}</span>}
        {rollout && (
          <>
            <span class="soft">{rollout.namespace}</span>
            <span aria-current="page">{rollout.name}</span>
          </>
        )}
      </nav>
      {!isOut.value && !isWall.value && <KeyButtons />}
      {!isOut.value && <Live />}
      {isWall.value ? <Held /> : <Account />}
    </header>
  );
};

/** Over all that is shown, while it may be old. */
export const Disconnected = () =>
  isOld.value && !isOut.value ? (
    <p class="disconnected" role="alert">
      <strong>{heardAt.value > 0 ? text.link.since(timeOf(heardAt.value)) : text.link.never}</strong>{' '}
      {link.value === 'live' ? trouble.value : text.link[link.value]}
    </p>
  ) : null;
