import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds, by all of its rules or the named ones; its source must be on the page. */
export const violations = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations: found } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
};

/** Elements that are wider than the screen or too small for a thumb. */
export const misfits = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const found = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push('the page is ' + root.scrollWidth + ' px wide');
    for (const control of document.querySelectorAll('button, summary, select, a')) {
      const { width, height } = control.getBoundingClientRect();
      if (width < 44 || height < 44) found.push(control.innerText + ': ' + width + ' by ' + height);
    }
    return found;
  })()`);
