import { en, type Text } from './en.ts';

/** By the first part of a language tag, such as `de`. */
const languages: Readonly<Record<string, Text>> = { en };

/** The words in the first of the reader's languages that there is; English otherwise. */
export const textFor = (wanted: readonly string[]): Text => {
  for (const tag of wanted) {
    const text = languages[tag.toLowerCase().split('-', 1)[0] ?? ''];
    if (text) return text;
  }
  return en;
};

export type { Text };
