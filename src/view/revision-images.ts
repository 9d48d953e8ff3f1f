import { imagesOf } from '../rollout/index.ts';
import type { Reading } from './kinds/kind.ts';

/** The images of each revision, by hash. */
export const revisionImages = ({ revisions }: Pick<Reading, 'revisions'>): Map<string, readonly string[]> =>
  new Map(
    revisions.map(({ hash, template }) => [
      hash,
      template?.spec ? imagesOf(template.spec).map(({ image }) => image) : [],
    ]),
  );
