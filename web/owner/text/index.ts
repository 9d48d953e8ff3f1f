import { textIn } from '../../language.ts';
import { de } from './de.ts';
import { en, type Text } from './en.ts';
import { zh } from './zh.ts';

/** In the order of the switch. A new language is a copy of en.ts and an entry here. */
export const languages: readonly [Text, ...Text[]] = [en, de, zh];

/** The texts in the first of the reader's languages that there is; English otherwise. */
export const textFor = (wanted: readonly string[]): Text => textIn(languages, wanted);

export type { Text };
