import { text } from '../../text/index.ts';
import type { CommandResult } from '../../types.ts';
import { outlineOf } from '../../view/outline.ts';
import { Copy } from '../copy.tsx';

/** Settings and fields, before and after. */
export const Changes = ({ changes }: { changes: NonNullable<CommandResult['changes']> }) => (
  <table class="changes">
    <thead>
      <tr>
        <th scope="col">{text.command.before}</th>
        <th scope="col">{text.command.after}</th>
      </tr>
    </thead>
    {changes.map(({ what, from, to }) => (
      <tbody key={what}>
        <tr>
          <th scope="rowgroup" colSpan={2}>
            {what}
          </th>
        </tr>
        <tr>
          <td>{from}</td>
          <td>{to}</td>
        </tr>
      </tbody>
    ))}
  </table>
);

const Lines = ({ lines }: { lines: readonly string[] }) => (
  <ul>
    {lines.map((line, index) => (
      <li key={`${index} ${line}`}>{line}</li>
    ))}
  </ul>
);

/** What `plan` prints. */
export const Preview = ({ title, output }: { title: string; output: string }) => (
  <ul class="effects printed" tabIndex={0} aria-label={title}>
    {outlineOf(output).map((line, index) => (
      <li key={`${index} ${line.text}`}>
        {line.text}
        {line.details.length > 0 && <Lines lines={line.details} />}
      </li>
    ))}
  </ul>
);

/** The command that does the same, for a terminal. */
export const AsCommand = ({ typed }: { typed: string }) => (
  <details class="as-command">
    <summary>{text.command.typed}</summary>
    <div class="code">
      <code>{typed}</code>
      <Copy what={typed} />
    </div>
  </details>
);
