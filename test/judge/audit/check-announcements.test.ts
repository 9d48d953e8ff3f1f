import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditRecord } from './audit-record.ts';
import { checkAnnouncements } from './check-announcements.ts';

const manager = 'system:serviceaccount:edge:edgeset-manager';
const ready = { type: 'Ready', status: 'True' };
const said = (reason: string, lastTransitionTime = 't1') => ({
  type: 'PodNeedUpgrade',
  status: reason === 'UpToDate' ? 'False' : 'True',
  reason,
  message: 'controllerrevision: new',
  lastTransitionTime,
});

/** Writes a history by hand; each write is successful, and two seconds after the one before. */
const history = (strategy: string | undefined = 'ota') => {
  const records: AuditRecord[] = [];
  let now = Date.parse('2026-01-01T00:00:00Z');
  const write = (fields: Partial<AuditRecord>, response: { metadata: object } & Record<string, unknown>): void => {
    now += 2000;
    records.push({
      receivedAt: now,
      answeredAt: now,
      user: 'admin',
      userAgent: '',
      verb: 'patch',
      group: '',
      resource: 'pods/status',
      namespace: 'edge',
      name: 'app-1',
      code: 200,
      request: undefined,
      response: { ...response, metadata: { ...response.metadata, resourceVersion: String(records.length + 1) } },
      ...fields,
    });
  };
  const self = {
    set(value: string | undefined) {
      const annotations = value === undefined ? {} : { 'apps.openyurt.io/update-strategy': value };
      write(
        { group: 'apps', resource: 'daemonsets', name: 'app' },
        { metadata: { name: 'app', uid: 'ds', annotations } },
      );
      return self;
    },
    pod(conditions: object[], how: { by?: string; request?: unknown; going?: boolean; owner?: string } = {}) {
      const { by = 'system:node', going, owner = 'ds' } = how;
      const request = how.request ?? { metadata: { uid: 'p1' }, status: { conditions: [{ type: 'PodNeedUpgrade' }] } };
      const metadata = {
        name: 'app-1',
        uid: 'p1',
        ownerReferences: [{ controller: true, kind: 'DaemonSet', name: 'app', uid: owner }],
        ...(going && { deletionTimestamp: 'then' }),
      };
      write({ user: by, request }, { kind: 'Pod', metadata, status: { conditions } });
      return self;
    },
    remove(by = manager) {
      write({ user: by, verb: 'delete', resource: 'pods' }, { kind: 'Pod', metadata: { uid: 'p1' } });
      return self;
    },
    judge: () =>
      checkAnnouncements(records, { namespace: 'edge', daemonSet: 'app', product: (user) => user === manager }),
  };
  return self.set(strategy).pod([ready]);
};

describe('checkAnnouncements', () => {
  it('accepts one patch for each revision', () => {
    const log = history().pod([ready, said('NewRevision')], { by: manager });
    log.pod([ready, said('Halted')], { by: manager }).pod([ready, said('UpToDate', 't2')], { by: manager });
    assert.deepEqual(log.pod([ready], { by: manager }).judge(), []);
  });

  it('permits removing an approval with its announcement only', () => {
    const approved = { type: 'UpgradeApproved', status: 'True', message: 'controllerrevision: new' };
    const off = {
      metadata: { uid: 'p1' },
      status: { conditions: [{ type: 'PodNeedUpgrade' }, { type: approved.type, $patch: 'delete' }] },
    };
    const log = () =>
      history()
        .pod([ready, said('NewRevision')], { by: manager })
        .pod([ready, said('NewRevision'), approved]);
    const next = { ...said('NewRevision'), message: 'controllerrevision: newer' };
    assert.deepEqual(log().pod([ready, next], { by: manager, request: off }).judge(), []);
    assert.deepEqual(log().pod([ready], { by: manager, request: off }).judge(), []);
    const early = log()
      .pod([ready, said('UpToDate', 't2')], { by: manager, request: off })
      .judge();
    assert.match(early.join(), /^S5: .* changed other conditions$/);
  });

  it('S12: reports a delete while owners decide, but not by others or with model auto', () => {
    assert.match(history().remove().judge().join(), /^S12: .* deleted pod app-1, whose owner decides$/);
    assert.deepEqual(history().remove('admin').judge(), []);
    assert.deepEqual(history('auto').remove().judge(), []);
    assert.deepEqual(history().set('auto').remove().judge(), []);
  });

  it('S5: requires the uid, one condition and nothing else', () => {
    const sent = (request: unknown) =>
      history()
        .pod([ready, said('NewRevision')], { by: manager, request })
        .judge()
        .join();
    const conditions = [{ type: 'PodNeedUpgrade' }];
    assert.match(sent({ status: { conditions } }), /without the uid/);
    assert.match(sent({ metadata: { uid: 'p1' }, status: { conditions: [...conditions, ready] } }), /something other/);
    assert.match(sent({ metadata: { uid: 'p1' }, status: { conditions, phase: 'Running' } }), /something other/);
    assert.match(sent({ metadata: { uid: 'p1' }, status: { conditions }, spec: {} }), /more than a status/);
  });

  it('S5: reports other conditions that were removed or changed, but not additional ones', () => {
    assert.match(
      history()
        .pod([said('NewRevision')], { by: manager })
        .judge()
        .join(),
      /changed other conditions/,
    );
    const broken = { ...ready, status: 'False' };
    assert.match(
      history()
        .pod([broken, said('NewRevision')], { by: manager })
        .judge()
        .join(),
      /changed other/,
    );
    const bound = { type: 'PodScheduled', status: 'True' };
    assert.deepEqual(
      history()
        .pod([bound, ready, said('NewRevision')], { by: manager })
        .judge(),
      [],
    );
  });

  it('S5: reports a pod of another owner', () => {
    const log = history().pod([ready, said('NewRevision')], { by: manager, owner: 'other' });
    assert.match(log.judge().join(), /which is not owned by a DaemonSet of the case/);
  });

  it('S15: reports a patch that changes nothing or only a time, and one of a terminating pod', () => {
    const told = () => history().pod([ready, said('NewRevision')], { by: manager });
    assert.match(
      told()
        .pod([ready, said('NewRevision')], { by: manager })
        .judge()
        .join(),
      /^S15: .* changed nothing$/,
    );
    assert.match(
      told()
        .pod([ready, said('NewRevision', 't2')], { by: manager })
        .judge()
        .join(),
      /moved lastTransition/,
    );
    const going = told().pod([ready, said('NewRevision')], { going: true });
    assert.match(
      going
        .pod([ready, said('Halted')], { by: manager, going: true })
        .judge()
        .join(),
      /been terminating for long$/,
    );
  });
});
