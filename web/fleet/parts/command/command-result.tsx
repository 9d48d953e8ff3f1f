import { text } from '../../text/index.ts';
import type { CommandResult } from '../../types.ts';
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

/** What `plan` says. */
export const Preview = ({ title, lines }: { title: string; lines: NonNullable<CommandResult['plan']> }) => (
  <ul class="effects printed" tabIndex={0} aria-label={title}>
    {lines.map(({ text: line, depth }, index) => (
      <li key={`${index} ${line}`} style={{ marginInlineStart: `${depth * 1.25}em` }}>
        {line}
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
