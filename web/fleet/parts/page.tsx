import { KeyList } from '../keys/key-list.tsx';
import { Palette } from '../keys/palette.tsx';
import { route } from '../route.ts';
import { isOut, session } from '../session.ts';
import { head, rows, silent } from '../store.ts';
import { text } from '../text/index.ts';
import { type RolloutRef, rolloutStates } from '../types.ts';
import { worstOf } from '../view/overview.ts';
import { setIcon } from '../view/state-icon.ts';
import { Login, NoKey } from './login.tsx';
import { Overview } from './overview/overview.tsx';
import { Rollout } from './rollout/rollout.tsx';
import { Disconnected, TopBar } from './top-bar.tsx';

const Entrance = () => (session.value?.mustOpen ? <NoKey /> : <Login />);

/** Says the state where tabs are listed. It comes first: they show little of a title. */
const label = (rollout: RolloutRef | undefined): void => {
  const shown = head.value && rolloutStates[head.value.headline.state];
  const known = rollout === undefined ? worstOf(rows.value?.values() ?? [], silent.value) : shown;
  const style = isOut.value ? undefined : known;
  document.title = text.page.title(style?.glyph ?? '', rollout?.name, rollout?.cluster);
  setIcon(style?.tone ?? 'idle');
};

export const Page = () => {
  const rollout = isOut.value ? undefined : route.value.rollout;
  label(rollout);
  return (
    <>
      <TopBar />
      <Disconnected />
      <main>
        {isOut.value ? <Entrance /> : rollout ? <Rollout rollout={rollout} head={head.value} /> : <Overview />}
      </main>
      {!isOut.value && <Palette />}
      {!isOut.value && <KeyList />}
    </>
  );
};
