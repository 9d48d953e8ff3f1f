import { linkTo, route } from '../route.ts';
import { isOut, session } from '../session.ts';
import { head, link, trouble } from '../store.ts';
import { text } from '../text/index.ts';
import { Account, Login, NoKey } from './login.tsx';
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

const Entrance = () => (session.value?.mustOpen ? <NoKey /> : <Login />);

export const Page = () => {
  const rollout = isOut.value ? undefined : route.value.rollout;
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
        {!isOut.value && <Link />}
      </header>
      <main>
        {isOut.value ? <Entrance /> : rollout ? <Rollout rollout={rollout} head={head.value} /> : <Overview />}
      </main>
    </>
  );
};
