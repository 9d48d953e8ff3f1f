import type { ComponentChild } from 'preact';
import { route } from '../../route.ts';
import { groups, isOld, nothing } from '../../store.ts';
import { text } from '../../text/index.ts';
import type { RolloutHead, RolloutRef } from '../../types.ts';
import { Actions } from '../command/actions.tsx';
import { type Asked, useCommands } from '../command/command-dialog.tsx';
import { Drawer } from './drawer.tsx';
import { Events } from './events.tsx';
import { Fleet } from './fleet.tsx';
import { Head } from './head.tsx';
import { Numbers } from './numbers.tsx';
import { PastRollouts } from './past-rollouts.tsx';
import { Settings } from './settings.tsx';
import { StageDots, Stages } from './stages.tsx';
import { Tabs } from './tabs.tsx';
import { TimeLine } from './time-line.tsx';
import { Notes, Why } from './why.tsx';

interface PartProps {
  rollout: RolloutRef;
  head: RolloutHead;
  ask: (request: Asked) => void;
}

const Part = ({ rollout, head, ask }: PartProps): ComponentChild => {
  switch (route.value.tab) {
    case 'stages':
      return head.stages ? <Stages {...head.stages} ask={ask} /> : <p class="empty">{text.stages.none}</p>;
    case 'timeline':
      return <TimeLine head={head} />;
    case 'history':
      return <PastRollouts head={head} ask={ask} />;
    case 'events':
      return <Events rollout={rollout} head={head} />;
    case 'settings':
      return <Settings head={head} ask={ask} />;
    case '':
      return <Fleet head={head} ask={ask} />;
  }
};

const Known = ({ rollout, head }: { rollout: RolloutRef; head: RolloutHead }) => {
  const { ask, dialog } = useCommands(head);
  const { node } = route.value;
  return (
    <>
      <Head head={head}>
        {/* Nobody acts on what may be old. */}
        <fieldset class="bare" disabled={isOld.value}>
          <Actions head={head} ask={ask} />
        </fieldset>
      </Head>
      <Why head={head} groups={groups.value} ask={ask} />
      <Notes head={head} />
      <Numbers head={head} />
      {head.stages && <StageDots stages={head.stages.steps} />}
      <Tabs head={head} />
      <Part rollout={rollout} head={head} ask={ask} />
      {node !== '' && <Drawer rollout={rollout} node={node} />}
      {dialog}
    </>
  );
};

export const Rollout = ({ rollout, head }: { rollout: RolloutRef; head: RolloutHead | undefined }) =>
  head ? (
    <Known rollout={rollout} head={head} />
  ) : (
    <section class="empty">
      <h1>{rollout.name}</h1>
      <p role="status">{nothing.value === '' ? text.rollout.reading : nothing.value}</p>
    </section>
  );
