import type { PodFacts } from '../facts/types.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Act, mayBeUnderWay } from '../record/record.ts';
import type { Answer } from './model-api.ts';
import type { ModelCluster } from './model-cluster.ts';
import type { Driver, RawView, Witness } from './model-driver.ts';
import type { Lost } from './model-process.ts';

export interface ModelActsOptions {
  cluster: ModelCluster;
  ledger: Ledger;
  view: RawView;
  witness: Witness;
  fences: boolean;
  call: <T>(perform: () => Answer<T>, answered: (answer: Answer<T> | Lost) => void) => void;
  soon: (delayMs: number, work: () => void) => void;
  lookSoon: () => void;
  seePod: (pod: PodFacts) => void;
  losePod: (uid: string) => void;
  now: () => number;
  self: () => Driver;
}

/** What one process writes to pods, and what it learns from the answers; on one node, one write at a time. */
export const createModelActs = (options: ModelActsOptions) => {
  const { cluster, ledger, view, witness, fences, call, soon, lookSoon, seePod, losePod, now, self } = options;
  const inAir = new Set<string>();

  const launch = <T>(
    node: string,
    act: Act,
    perform: () => Answer<T>,
    ended: (answer: Answer<T> | Lost) => void,
  ): void => {
    inAir.add(node);
    call(perform, (answer) => {
      inAir.delete(node);
      if (!answer.ok && answer.reason === 'NotFound') losePod(act.podUid);
      ended(answer);
      lookSoon();
    });
  };

  /** While an answer was on its way the slot may have been given to another act: that one is not concerned. */
  const isStillHeld = (node: string, act: Act): boolean => {
    const held = ledger.get(node)?.act;
    return (
      held?.podUid === act.podUid && held.podResourceVersion === act.podResourceVersion && held.rollout === act.rollout
    );
  };
  const setStage = (node: string, act: Act, stage: Act['stage']): void => {
    if (isStillHeld(node, act)) ledger.setStage(node, stage, now());
  };

  /** What is to be known when a write of an act did not succeed; `alone`: nothing of it was sent before. */
  const noteFailure = (
    node: string,
    act: Act,
    reason: 'NotFound' | 'Conflict' | 'Refused' | 'Lost',
    alone: boolean,
  ): void => {
    if (reason === 'NotFound') setStage(node, act, 'done');
    else if (reason === 'Conflict') {
      const fresh = cluster.readPod(act.podUid);
      if (fresh.ok) seePod(fresh.value);
      else losePod(act.podUid);
      setStage(node, act, 'reserved');
    } else if (isStillHeld(node, act)) {
      if (reason === 'Refused' && alone) ledger.release(node, now());
      else setStage(node, act, 'unsure');
      ledger.refuse(node, reason, now());
    }
  };

  const sendDelete = (node: string, act: Act): void => {
    const alone = !mayBeUnderWay(act);
    ledger.setStage(node, 'sending', now());
    witness.sent?.(self(), node, act);
    const perform = (): Answer<PodFacts> => {
      const before = cluster.pods.get(act.podUid);
      const answer = cluster.deletePod(act.podUid, act.podResourceVersion);
      witness.wrote?.(self(), 'delete');
      if (answer.ok && before && !before.terminating) witness.deleted?.(node, act, before);
      return answer;
    };
    launch(node, act, perform, (answer) => {
      if (!answer.ok) return noteFailure(node, act, answer.reason, alone);
      seePod(answer.value);
      setStage(node, act, 'done');
    });
  };

  /** Two writes, each with the version that the one before it left: a fence between them stops the second. */
  const sendChange = (node: string, act: Act): void => {
    const alone = !mayBeUnderWay(act);
    const hash = ledger.state.target?.hash ?? '';
    ledger.setStage(node, 'sending', now());
    witness.sent?.(self(), node, act);
    const shut = (): Answer<PodFacts> => {
      const before = cluster.pods.get(act.podUid);
      const answer = cluster.shutGate(act.podUid, act.podResourceVersion);
      witness.wrote?.(self(), 'gate');
      if (answer.ok && before && !before.changing) witness.shut?.(node, act, before);
      return answer;
    };
    const change = (version: string) => (): Answer<PodFacts> => {
      const before = cluster.pods.get(act.podUid);
      const answer = cluster.changePod(act.podUid, version, hash);
      witness.wrote?.(self(), 'change');
      if (answer.ok && before) witness.changed?.(node, act, before);
      return answer;
    };
    launch(node, act, shut, (answer) => {
      if (!answer.ok) return noteFailure(node, act, answer.reason, alone);
      seePod(answer.value);
      launch(node, act, change(answer.value.resourceVersion), (second) => {
        if (!second.ok) return noteFailure(node, act, second.reason, alone);
        seePod(second.value);
        setStage(node, act, 'done');
      });
    });
  };

  /**
   * A creation cannot be made to depend on another pod: the old pod is written to first, which a fence and a reservation
   * of somebody else's refuse. Only a process that stops between the two is late with the second.
   */
  const sendSurge = (node: string, act: Act): void => {
    const alone = !mayBeUnderWay(act);
    const hash = ledger.state.target?.hash ?? '';
    ledger.setStage(node, 'sending', now());
    witness.sent?.(self(), node, act);
    let marks = 0;
    const mark = (): Answer<PodFacts> => {
      witness.wrote?.(self(), 'surge');
      const answer = cluster.touchPod(act.podUid, act.podResourceVersion);
      marks = cluster.marksOf(act.podUid);
      return answer;
    };
    const create = (): Answer<PodFacts> => {
      const known = cluster.pods.size;
      const answer = cluster.surgePod(node, act.podUid, hash);
      witness.wrote?.(self(), 'surge');
      if (answer.ok && cluster.pods.size > known)
        witness.surged?.(node, act, answer.value, cluster.marksOf(act.podUid) > marks);
      return answer;
    };
    launch(node, act, mark, (answer) => {
      if (!answer.ok) return noteFailure(node, act, answer.reason, alone);
      seePod(answer.value);
      launch(node, act, create, (second) => {
        if (!second.ok) return noteFailure(node, act, second.reason, alone);
        seePod(second.value);
        setStage(node, act, 'done');
      });
    });
  };

  const retire = (node: string, pod: PodFacts): void => {
    if (inAir.has(node)) return;
    inAir.add(node);
    witness.retiring?.(self(), node, pod);
    const perform = (): Answer<PodFacts> => {
      witness.wrote?.(self(), 'delete');
      return cluster.deletePod(pod.uid, pod.resourceVersion);
    };
    call(perform, (answer) => {
      inAir.delete(node);
      const fresh = answer.ok || answer.reason === 'Lost' ? answer : cluster.readPod(pod.uid);
      if (fresh.ok) seePod(fresh.value);
      else if (fresh.reason === 'NotFound') losePod(pod.uid);
      lookSoon();
    });
  };

  /** Opens the gates of pods whose containers have arrived, and of those that are not to be changed after all. */
  const openGates = (): void => {
    for (const { facts } of view.pods.values()) {
      if (!facts.changing || facts.terminating || inAir.has(facts.node) || !cluster.hasArrived(facts.uid)) continue;
      const act = ledger.get(facts.node)?.act;
      if (act?.kind === 'in-place' && act.stage !== 'done') continue;
      inAir.add(facts.node);
      call(
        () => {
          witness.wrote?.(self(), 'gate');
          return cluster.openGate(facts.uid, facts.resourceVersion);
        },
        (answer) => {
          inAir.delete(facts.node);
          if (answer.ok) seePod(answer.value);
          else if (answer.reason === 'NotFound') losePod(facts.uid);
          soon(answer.ok ? 1 : 500, lookSoon);
        },
      );
    }
  };

  const sendFence = (node: string, act: Act): void => {
    if (!fences) return ledger.release(node, now());
    const perform = (): Answer<PodFacts> => {
      witness.wrote?.(self(), 'fence');
      return cluster.touchPod(act.podUid);
    };
    launch(node, act, perform, (answer) => {
      if (answer.ok) {
        seePod(answer.value);
        // The old pod does not tell whether the new one was created: that one is looked for.
        for (const pod of cluster.surgedBeside(act.podUid)) seePod(pod);
        ledger.release(node, now());
      }
    });
  };

  const unlessBusy =
    (send: (node: string, act: Act) => void) =>
    (node: string, act: Act): void => {
      if (!inAir.has(node)) send(node, act);
    };

  return {
    delete: unlessBusy(sendDelete),
    change: unlessBusy(sendChange),
    surge: unlessBusy(sendSurge),
    retire,
    fence: unlessBusy(sendFence),
    openGates,
    busy: (): boolean => inAir.size > 0,
  };
};
