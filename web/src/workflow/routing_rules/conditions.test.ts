import { expect, test } from 'vitest';
import {
  type ApiNode,
  fit,
  fromConditions,
  newCondition,
  operatorsOf,
  toConditions,
} from './conditions';

test('conditions survive editing', () => {
  const conditions: ApiNode = {
    all: [
      { attribute: 'metadata.vendor', operator: 'equals', value: 'acme' },
      {
        any: [
          { attribute: 'metadata.amount', operator: 'at_least', value: 10000 },
          { attribute: 'text', operator: 'matches', value: 'urgent|final notice' },
          { attribute: 'page_count', operator: 'in', value: [1, 2] },
          { attribute: 'language', operator: 'not_exists' },
          { attribute: 'metadata.paid', operator: 'equals', value: true },
        ],
      },
    ],
  };
  expect(toConditions(fromConditions(conditions))).toEqual(conditions);
});

test('no condition matches every document', () => {
  expect(toConditions(fromConditions({}))).toEqual({});
});

test('numbers that would not look the same stay texts', () => {
  const condition = { ...newCondition('metadata.lot'), value: '007' };
  const group = { uid: '1', mode: 'all' as const, items: [condition] };
  expect(toConditions(group).all?.[0]?.value).toBe('007');
});

test('texts are compared with texts, although they are digits', () => {
  const condition = { ...newCondition('name'), value: '42' };
  expect(toConditions({ uid: '1', mode: 'all', items: [condition] }).all?.[0]?.value).toBe('42');
});

test('operator and value follow the attribute', () => {
  const condition = { ...newCondition('name'), operator: 'contains' as const, value: 'x' };
  expect(fit({ ...condition, attribute: 'page_count' }).operator).toBe('equals');
  expect(fit({ ...condition, operator: 'in' }).value).toEqual(['x']);
  expect(fit({ ...condition, operator: 'equals', value: ['a', 'b'] }).value).toBe('a');
});

test('metadata has the operators of texts and numbers', () => {
  expect(operatorsOf('metadata.x')).toContain('at_least');
  expect(operatorsOf('metadata.x')).toContain('matches');
  expect(operatorsOf('schema_id')).not.toContain('contains');
});
