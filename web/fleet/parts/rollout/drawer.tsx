import { useEffect, useRef, useState } from 'preact/hooks';
import { readNode } from '../../api.ts';
import { go } from '../../route.ts';
import { cellOf } from '../../store.ts';
import { text } from '../../text/index.ts';
import { bySeverity, type NodeCell, type NodeDetails, type RolloutRef } from '../../types.ts';
import { ago } from '../../view/ago.ts';
import { PhaseMark } from '../phase-mark.tsx';
import { EventList } from './events.tsx';

const isPhase = (phase: string): phase is NodeCell[1] => bySeverity.some((one) => one === phase);

const Details = ({ details }: { details: NodeDetails }) => (
  <>
    <p>
      {isPhase(details.phase) && <PhaseMark phase={details.phase} />} <strong>{details.phase}</strong>{' '}
      {details.cause !== '' && `(${details.cause})`}
    </p>
    <p>{details.what}</p>
    {details.remedy !== '' && <p>{details.remedy}</p>}
    <h3>{text.node.pods}</h3>
    {details.pods.length === 0 && <p class="soft">{text.node.none}</p>}
    <ul>
      {details.pods.map((pod) => (
        <li key={pod.name}>
          <code>{pod.name}</code>{' '}
          {pod.terminating ? text.node.terminating : pod.ready ? text.node.ready : text.node.notReady},{' '}
          {text.node.revision} <code>{pod.revision}</code>, {ago(pod.createdAt)}
        </li>
      ))}
    </ul>
    <h3>{text.node.events}</h3>
    <EventList events={details.events} />
    <h3>{text.node.node}</h3>
    <ul>
      {details.conditions.map((condition) => (
        <li key={condition.type}>
          <strong>{condition.type}</strong> {condition.status}: {condition.reason}{' '}
          <span class="soft">{ago(condition.since)}</span>
        </li>
      ))}
    </ul>
    <ul class="labels">
      {Object.entries(details.labels).map(([key, value]) => (
        <li key={key}>
          <code>
            {key}={value}
          </code>
        </li>
      ))}
    </ul>
    {details.missing.map((what) => (
      <p key={what} class="wait">
        {text.node.missing(what)}
      </p>
    ))}
  </>
);

/** What is known of one node, and why it is in its phase. */
export const Drawer = ({ rollout, node }: { rollout: RolloutRef; node: string }) => {
  const [details, setDetails] = useState<NodeDetails | undefined>();
  const [error, setError] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);
  // Read again when the node has changed.
  const [, phase, cause, revision] = cellOf(node) ?? [];
  const { cluster, namespace, kind, name } = rollout;
  useEffect(() => heading.current?.focus(), [node]);
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      let why = '';
      const found = await readNode({ cluster, namespace, kind, name }, node).catch((reason: unknown) => {
        why = reason instanceof Error ? reason.message : String(reason);
        return undefined;
      });
      if (isOver) return;
      if (found) setDetails(found);
      setError(why);
    };
    void read();
    return () => {
      isOver = true;
    };
  }, [cluster, namespace, kind, name, node, phase, cause, revision]);
  return (
    <aside class="drawer" aria-label={text.node.title(node)}>
      <div class="drawer-head">
        <h2 ref={heading} tabIndex={-1}>
          {node}
        </h2>
        <button type="button" onClick={() => go({ node: '' })}>
          {text.node.close}
        </button>
      </div>
      {error !== '' && <p class="bad">{error}</p>}
      {details?.node === node ? <Details details={details} /> : error === '' && <p class="soft">{text.node.reading}</p>}
    </aside>
  );
};
