// What the reader chose with the switch, on this browser only.

const KEY = 'edgeset.language';

/** Empty without a choice, and where the browser keeps nothing. */
export const rememberedLanguage = (): string[] => {
  try {
    const language = localStorage.getItem(KEY);
    return language === null ? [] : [language];
  } catch {
    return [];
  }
};

export const rememberLanguage = (language: string): void => {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // Private windows may refuse it: the choice lasts until the page is closed.
  }
};
