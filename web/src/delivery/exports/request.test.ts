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
  stored: {},
  hidden: {},
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

test('a year with five digits is shown as wrong by the service', () => {
  const body = toBody({ ...REQUEST, from: '20260-03-01', to: '20260-03-31' });
  expect(body.filter).toMatchObject({
    created_after: '20260-03-01',
    created_before: '20260-03-31',
  });
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
  expect(request).toMatchObject({
    ...REQUEST,
    options: { delimiter: ';' },
    parts: { evidence: 'yes', text: 'no', history: 'no' },
    stored: { schema_id: 'S', created_after, created_before },
  });
  expect(request.hidden).toEqual({});
});

const NOTHING = {
  ...{ schema_id: null, artifact_ids: null, labeler_id: null },
  ...{ created_after: null, created_before: null, decided_after: null, decided_before: null },
};
const stored = (filter: object) => ({
  format: 'jsonl',
  options: {},
  filter: { ...NOTHING, statuses: ['accepted' as const], ...filter },
  include: {
    tags: 'accepted' as const,
    evidence: true,
    text: true,
    history: false,
    removed: false,
  },
});

test('conditions that the form does not show stay when others change', () => {
  const filter = {
    ...{ artifact_ids: ['A'], labeler_id: 'L', decided_after: '2026-03-01T15:30:00Z' },
    created_before: '2026-06-01T00:00:00Z',
  };
  const request = readRequest(stored(filter));
  expect(toBody({ ...request, schemaId: 'S' }).filter).toEqual({
    ...filter,
    schema_id: 'S',
    statuses: ['accepted'],
  });
  const moved = toBody({ ...request, from: '2026-04-01' }).filter;
  expect(moved?.decided_after).toBe(new Date('2026-04-01T00:00').toISOString());
  expect(toBody({ ...request, from: '' }).filter).not.toHaveProperty('decided_after');
});

test('a period that only ends is one of the documents begun until then', () => {
  const request = readRequest(stored({ created_before: '2026-06-01T00:00:00Z' }));
  expect(request.period).toBe('created');
  expect(toBody(request).filter?.created_before).toBe('2026-06-01T00:00:00Z');
  // Another kind of period replaces it.
  expect(toBody({ ...request, period: 'decided' }).filter).not.toHaveProperty('created_before');
});
