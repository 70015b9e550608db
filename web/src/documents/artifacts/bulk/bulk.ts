/** Actions on many documents, each with an outcome per document. */
import { api, unwrap } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import type { toFilters } from '../search';

export type BulkResult = Schemas['BulkResult'];
export type Outcome = Schemas['BulkOutcome'];

/** Documents by id, or all that a filter matches. */
export type Target =
  { ids: readonly string[] } | { filter: ReturnType<typeof toFilters>; count: number };

type SelectionBody = Pick<Schemas['BulkArchive'], 'artifact_ids' | 'filter' | 'expected_count'>;

const MOST_IDS = 1000;
const AT_ONCE = 4;
const MOST_LISTED = 100;

export function mergeResults(results: readonly BulkResult[]): BulkResult {
  return {
    matched: results.reduce((sum, result) => sum + result.matched, 0),
    succeeded: results.reduce((sum, result) => sum + result.succeeded, 0),
    failed: results.reduce((sum, result) => sum + result.failed, 0),
    outcomes: results.flatMap((result) => result.outcomes),
  };
}

/** Calls a bulk operation of the API, in parts of as many ids as it takes. */
export async function callInParts(
  target: Target,
  call: (selection: SelectionBody) => Promise<BulkResult>,
): Promise<BulkResult> {
  if ('filter' in target) return call({ filter: target.filter, expected_count: target.count });
  const results: BulkResult[] = [];
  for (let at = 0; at < target.ids.length; at += MOST_IDS) {
    try {
      results.push(await call({ artifact_ids: target.ids.slice(at, at + MOST_IDS) }));
    } catch (error) {
      if (at === 0) throw error;
      results.push(failAll(target.ids.slice(at), error));
      break;
    }
  }
  return mergeResults(results);
}

/** What came of documents whose part was refused, or not sent any more; a few of them by name. */
function failAll(ids: readonly string[], error: unknown): BulkResult {
  const outcomes = ids.slice(0, MOST_LISTED).map((id) => toFailure(id, error));
  return { matched: ids.length, succeeded: 0, failed: ids.length, outcomes };
}

/** Calls an operation that the API has only for single documents; some at once. */
export async function callEach(
  ids: readonly string[],
  call: (id: string) => Promise<unknown>,
): Promise<BulkResult> {
  const outcomes = new Map<string, Outcome>();
  const waiting = [...ids];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
      outcomes.set(id, await settle(id, call(id)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const list = ids.flatMap((id) => outcomes.get(id) ?? []);
  const succeeded = list.filter((outcome) => outcome.ok).length;
  return { matched: ids.length, succeeded, failed: ids.length - succeeded, outcomes: list };
}

async function settle(id: string, call: Promise<unknown>): Promise<Outcome> {
  try {
    await call;
    return { id, ok: true, code: null, message: null };
  } catch (error) {
    return toFailure(id, error);
  }
}

function toFailure(id: string, error: unknown): Outcome {
  const code = isApiError(error) ? error.code : 'unknown';
  return { id, ok: false, code, message: error instanceof Error ? error.message : code };
}

export interface Assignment {
  kind: 'user' | 'team' | undefined;
  id: string | undefined;
  strategy: 'everyone' | 'round_robin' | 'least_loaded';
  due_at: string | undefined;
}

/** The members of a body that assign. Without a target the documents return to the pool. */
export function toAssignees({ kind, id, due_at }: Omit<Assignment, 'strategy'>) {
  const due = due_at === undefined ? {} : { due_at };
  if (kind === 'team' && id !== undefined) return { team_id: id, ...due };
  return { user_ids: id === undefined ? [] : [id], ...due };
}

export function assignMany(target: Target, assignment: Assignment): Promise<BulkResult> {
  return callInParts(target, async (selection) => {
    const body = { ...selection, ...toAssignees(assignment), strategy: assignment.strategy };
    return (await unwrap(api.POST('/api/v1/artifacts/bulk-assign', { body }))).data;
  });
}

export function archiveMany(target: Target, archived: boolean): Promise<BulkResult> {
  return callInParts(target, async (selection) => {
    const body = { ...selection, archived };
    return (await unwrap(api.POST('/api/v1/artifacts/bulk-archive', { body }))).data;
  });
}

export function deleteMany(target: Target): Promise<BulkResult> {
  return callInParts(
    target,
    async (body) => (await unwrap(api.POST('/api/v1/artifacts/bulk-delete', { body }))).data,
  );
}

export function setPriority(ids: readonly string[], priority: number): Promise<BulkResult> {
  return callEach(ids, (artifact_id) =>
    api.PATCH('/api/v1/artifacts/{artifact_id}', {
      params: { path: { artifact_id } },
      body: { priority },
    }),
  );
}

export function reprocessMany(ids: readonly string[]): Promise<BulkResult> {
  return callEach(ids, (artifact_id) =>
    api.POST('/api/v1/artifacts/{artifact_id}/reprocess', {
      params: { path: { artifact_id } },
    }),
  );
}
