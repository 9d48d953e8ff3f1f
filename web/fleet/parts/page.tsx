import { linkTo, route } from '../route.ts';
import { session } from '../session.ts';
import { head, link, trouble } from '../store.ts';
import { text } from '../text/index.ts';
import { Account, Login } from './login.tsx';
import { Overview } from './overview.tsx';
import { Rollout } from './rollout.tsx';

const Link = () => {
  const isOld = link.value === 'silent' || link.value === 'refused' || trouble.value !== '';
  return (
    <span class={isOld ? 'link silent' : 'link'} role="status">
      {link.value === 'live' && trouble.value !== '' ? trouble.value : text.link[link.value]}
    </span>
  );
};

export const Page = () => {
  const isOut = session.value?.mustLogIn !== undefined;
  const rollout = isOut ? undefined : route.value.rollout;
  document.title = rollout ? text.page.title(rollout.name) : 'edgeset';
  return (
    <>
      <header>
        <nav aria-label={text.page.where}>
          <a href={linkTo(undefined)} aria-current={rollout ? undefined : 'page'}>
            {text.overview.title}
          </a>
          {rollout && (
            <span aria-current="page">
              {rollout.namespace} / {rollout.kind}/{rollout.name}
            </span>
          )}
        </nav>
        <Account />
        {!isOut && <Link />}
      </header>
      <main>{isOut ? <Login /> : rollout ? <Rollout rollout={rollout} head={head.value} /> : <Overview />}</main>
    </>
  );
};
