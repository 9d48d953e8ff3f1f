import { text } from '../../text/index.ts';
import { Copy } from '../copy.tsx';

const SETTINGS = `metadata:
  annotations:
    apps.openyurt.io/update-strategy: auto
spec:
  updateStrategy:
    type: OnDelete
`;

/** How a DaemonSet gets onto the page. */
export const OptIn = () => (
  <div class="card opt-in">
    <h2>{text.overview.empty}</h2>
    <p>{text.overview.optIn}</p>
    <div class="code">
      <pre tabIndex={0}>{SETTINGS}</pre>
      <Copy what={SETTINGS} />
    </div>
    <p class="soft">{text.overview.optInAdvanced}</p>
  </div>
);
