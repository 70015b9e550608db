// Check a page with axe-core.
import assert from 'node:assert/strict';
import axe from 'axe-core';

export const STANDARD = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

// The rule fails on inline styles with `!important` only; by default, it first collects the text of
// all elements that have an inline style.
const RULES = [{ id: 'avoid-inline-spacing', selector: '[style*="important" i]' }];

// Runs in the page, which has axe-core. The first run finds only whether there are violations. The
// second run also collects HTML and selectors, which takes time for every element and rule.
async function findViolations({ options, rules }) {
  const { axe: checker } = globalThis;
  checker.configure({ rules, noHtml: true });
  const results = await checker.run(document, { ...options, selectors: false });
  if (results.violations.length === 0) return results;
  checker.reset();
  return checker.run(document, options);
}

// Returns the rules of WCAG 2.2 AA that a page passes and violates. The page's security policy does
// not apply to this script, but would block its requests for style sheets, so `preload` is off.
export async function runAxe(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const options = { runOnly: { type: 'tag', values: STANDARD }, preload: false, resultTypes: ['violations'] };
  const results = await page.evaluate(findViolations, { options, rules: RULES });
  const isOpen = await page.locator('[role=dialog]').first().isVisible();
  return {
    passes: results.passes.map((rule) => rule.id),
    violations: results.violations
      .map((rule) => ({
        id: rule.id,
        nodes: rule.nodes
          .filter((node) => !(isOpen && isCovered(node)))
          .map((node) => `${node.html} ${node.failureSummary}`),
      }))
      .filter(({ nodes }) => nodes.length > 0),
  };
}

// Returns whether an element is too small only because an open dialog covers a part of it.
function isCovered(node) {
  return node.any.some(({ data }) => data?.messageKey === 'partiallyObscured');
}

// Throws an error if a page has violations, or is wider than the window.
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
