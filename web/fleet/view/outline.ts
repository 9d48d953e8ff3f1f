/** A sentence that a command prints, and the lines below it that are indented. */
export interface Printed {
  text: string;
  details: readonly string[];
}

/** What a command prints for a terminal, as an outline. */
export const outlineOf = (output: string): readonly Printed[] => {
  const outline: { text: string; details: string[] }[] = [];
  for (const line of output.split('\n')) {
    const text = line.trim();
    const last = outline.at(-1);
    if (text === '') continue;
    if (last && line.startsWith(' ')) last.details.push(text);
    else outline.push({ text, details: [] });
  }
  return outline;
};
