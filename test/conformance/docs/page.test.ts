import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf } from './page.ts';

const page = `# Title

\`\`\`sh
kubectl get nodes
\`\`\`

\`\`\`text
node-1
\`\`\`

1. A step:

   <!-- not played: needs an image -->
   \`\`\`sh
   kubectl apply -k deploy/
     more
   \`\`\`
`;

test('blocks have their language, line and note, without the indentation of a list', () => {
  assert.deepEqual(blocksOf(page), [
    { language: 'sh', text: 'kubectl get nodes\n', line: 3, note: '' },
    { language: 'text', text: 'node-1\n', line: 7, note: '' },
    {
      language: 'sh',
      text: 'kubectl apply -k deploy/\n  more\n',
      line: 14,
      note: 'not played: needs an image',
    },
  ]);
});
