import { expect, test } from 'vitest';
import { programOf } from './snippets';
import { webhookHealth, type Webhook } from './values';

const webhook = (changes: Partial<Webhook>) =>
  ({ active: true, consecutive_failures: 0, ...changes }) as Webhook;

test('says how a webhook does', () => {
  expect(webhookHealth(webhook({}))).toBe('active');
  expect(webhookHealth(webhook({ consecutive_failures: 3 }))).toBe('failing');
  expect(webhookHealth(webhook({ active: false, consecutive_failures: 10 }))).toBe('inactive');
});

test.each(['python', 'javascript'] as const)('the program in %s is what verifies', (language) => {
  const code = programOf(language);
  expect(code).toMatch(/verify_?standard/i);
  expect(code).toContain('webhook-signature');
  expect(code).not.toMatch(/vectors|main/);
});
