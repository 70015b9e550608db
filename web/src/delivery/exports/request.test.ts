import { expect, test } from 'vitest';
import { type ExportRequest, readRequest, toBody } from './request';

const REQUEST: ExportRequest = {
  format: 'csv',
  options: { delimiter: ';', separator: '' },
  schemaId: 'S',
  statuses: ['accepted', 'rejected'],
  tags: 'all',
  parts: { evidence: 'yes', text: 'auto', history: 'no' },
  period: 'created',
  from: '2026-03-01',
  to: '2026-03-31',
};

test('sends what was entered, and both days of the period', () => {
  const body = toBody(REQUEST);
  expect(body).toMatchObject({
    format: 'csv',
    options: { delimiter: ';' },
    filter: { schema_id: 'S', statuses: ['accepted', 'rejected'] },
    include: { tags: 'all', evidence: true, history: false },
  });
  expect(body.include).not.toHaveProperty('text');
  expect(body.filter?.created_after).toBe(new Date('2026-03-01T00:00').toISOString());
  expect(body.filter?.created_before).toBe(new Date('2026-04-01T00:00').toISOString());
});

test('leaves out defaults', () => {
  const body = toBody({
    ...REQUEST,
    options: {},
    schemaId: null,
    statuses: [],
    tags: 'accepted',
    parts: { evidence: 'auto', text: 'auto', history: 'auto' },
    from: '',
    to: '',
  });
  expect(body).toEqual({ format: 'csv' });
});

test('reads what was stored', () => {
  const { created_after, created_before } = toBody(REQUEST).filter ?? {};
  const request = readRequest({
    format: 'csv',
    options: { delimiter: ';' },
    filter: {
      ...{ schema_id: 'S', statuses: ['rejected', 'accepted'], artifact_ids: null },
      ...{ labeler_id: null, decided_after: null, decided_before: null },
      created_after: created_after ?? null,
      created_before: created_before ?? null,
    },
    include: { tags: 'all', evidence: true, text: false, history: false, removed: false },
  });
  expect(request).toEqual({
    ...REQUEST,
    options: { delimiter: ';' },
    parts: { evidence: 'yes', text: 'no', history: 'no' },
  });
});
