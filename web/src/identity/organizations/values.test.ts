import { describe, expect, test } from 'vitest';
import { deletesMore, toBody, toInput, toValues } from './values';

const organization = {
  name: 'Demo',
  revision: 4,
  settings: {
    locale: 'en',
    time_zone: 'UTC',
    retention_days: null,
    claim_minutes: 30,
    draft_hours: 24,
    allow_self_review: false,
    ai_provider: { kind: 'builtin', base_url: null, model: null, api_key_set: false },
  },
} as never;

describe('toBody', () => {
  const values = toValues(organization);

  test('leaves the model alone unless it was touched', () => {
    expect(toBody(values, organization).settings).not.toHaveProperty('ai_provider');
    const own = {
      ...values,
      kind: 'openai_compatible',
      base_url: ' https://a.example ',
    } as const;
    expect(toBody(own, organization).settings?.ai_provider).toEqual({
      kind: 'openai_compatible',
      base_url: 'https://a.example',
      model: '',
    });
    const keyed = { ...own, api_key: 'k' };
    expect(toBody(keyed, organization).settings?.ai_provider).toMatchObject({ api_key: 'k' });
  });

  test('keeps forever or for days', () => {
    expect(toBody({ ...values, keep: true, retention_days: 5 }, organization)).toMatchObject({
      settings: { retention_days: null },
      revision: 4,
    });
    expect(toBody({ ...values, keep: false, retention_days: 5 }, organization)).toMatchObject({
      settings: { retention_days: 5 },
    });
  });
});

test('deletesMore', () => {
  const values = { ...toValues(organization), keep: false, retention_days: 30 } as const;
  expect(deletesMore(values, null)).toBe(true);
  expect(deletesMore(values, 60)).toBe(true);
  expect(deletesMore(values, 30)).toBe(false);
  expect(deletesMore({ ...values, keep: true }, 60)).toBe(false);
});

test('toInput', () => {
  expect(toInput('settings.ai_provider.base_url')).toBe('base_url');
  expect(toInput('name')).toBe('name');
});
