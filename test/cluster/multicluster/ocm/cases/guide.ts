import { it } from 'node:test';
import { runPage } from '../../../../conformance/docs/index.ts';
import { createApplication } from '../application.ts';
import { canary, type Fixture } from '../fixture.ts';

/** Comes first: the page makes what the other cases find. */
export const describeGuide = (fixture: () => Fixture): void => {
  const page = 'docs/how-to/open-cluster-management.md';
  it(page, async () => {
    const { member, rig } = fixture();
    // The reader's commands go to the hub.
    const cluster = { ...member(canary).cluster, kubeconfig: rig.hub.kubeconfig };
    await runPage({ page, cluster, manager: 'where it is started', folders: ['deploy'] });
    await createApplication(rig, 'checkout').remove();
  });
};
