import type { Container } from 'kubernetes-types/core/v1.d.ts';

type Texts = Readonly<Record<string, string>>;
export type Changes = Readonly<Record<string, string | null>>;

/** What a merge patch has to say to make one map of the other. */
export const changedKeys = (from: Texts = {}, to: Texts = {}): Changes =>
  Object.fromEntries(
    [...new Set([...Object.keys(from), ...Object.keys(to)])]
      .filter((key) => from[key] !== to[key])
      .map((key) => [key, to[key] ?? null]),
  );

const FIELD = /^metadata\.(labels|annotations)\['(.*)'\]$/;

/** Whether the container takes one of the changed entries into its environment, which is read only when it starts. */
export const readsMetadata = ({ env = [] }: Container, labels: Changes, annotations: Changes): boolean =>
  env.some(({ valueFrom }) => {
    const [, kind, key = ''] = FIELD.exec(valueFrom?.fieldRef?.fieldPath ?? '') ?? [];
    return kind !== undefined && key in (kind === 'labels' ? labels : annotations);
  });
