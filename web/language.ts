interface Language {
  /** A tag of BCP 47. */
  language: string;
}

/** Those who read traditional characters get the next language that they name. */
const isTraditional = (tag: string): boolean => /^zh\b.*-(hant|tw|hk|mo)\b/.test(tag) && !tag.includes('-hans');

const primary = (tag: string): string | undefined => tag.split('-', 1)[0];

/** The texts in the first of the reader's languages that there is; otherwise the first of all. */
export const textIn = <T extends Language>(languages: readonly [T, ...T[]], wanted: readonly string[]): T => {
  for (const tag of wanted.map((each) => each.toLowerCase())) {
    if (isTraditional(tag)) continue;
    const text = languages.find(({ language }) => primary(language) === primary(tag));
    if (text) return text;
  }
  return languages[0];
};
