// Checks a page with axe-core.
import assert from 'node:assert/strict';
import axe from 'axe-core';

export const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

// The rule fails on inline styles with `!important` only; by default, it first collects the text of
// all elements that have an inline style.
const RULES = [{ id: 'avoid-inline-spacing', selector: '[style*="important" i]' }];

// Runs in the page, which has axe-core. HTML and selectors of elements are only collected if some
// violate a rule: otherwise they would be collected for every element and rule.
async function findViolations({ options, rules }) {
  const { axe: checker } = globalThis;
  checker.configure({ rules, noHtml: true });
  const found = await checker.run(document, { ...options, selectors: false });
  if (found.violations.length === 0) return found;
  checker.reset();
  return checker.run(document, options);
}

// What axe-core finds against WCAG 2.2 AA. It is evaluated through the devtools protocol, which
// the page's policy does not bind; its own requests for style sheets are off, for those it would.
export async function runAxe(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const options = { runOnly: { type: 'tag', values: STANDARD }, preload: false, resultTypes: ['violations'] };
  const found = await page.evaluate(findViolations, { options, rules: RULES });
  const isOpen = await page.locator('[role=dialog]').first().isVisible();
  return {
    passes: found.passes.map((rule) => rule.id),
    violations: found.violations
      .map((rule) => ({
        id: rule.id,
        nodes: rule.nodes
          .filter((node) => !(isOpen && isCovered(node)))
          .map((node) => `${node.html} ${node.failureSummary}`),
      }))
      .filter(({ nodes }) => nodes.length > 0),
  };
}

// What is too small only because something open covers a part of it has its size again afterwards.
function isCovered(node) {
  return node.any.some(({ data }) => data?.messageKey === 'partiallyObscured');
}

// Fails on violations, and on content that is wider than the window.
export async function checkAccessibility(page) {
  const { passes, violations } = await runAxe(page);
  assert.deepEqual(violations, []);
  for (const rule of ['html-has-lang', 'document-title', 'color-contrast']) assert.ok(passes.includes(rule), rule);
  const overflow = await page.evaluate(() => {
    const root = document.documentElement;
    return root.scrollWidth - root.clientWidth;
  });
  assert.ok(overflow <= 0, `the page is ${overflow} px wider than the window`);
}
