import type { TFunction } from 'i18next';

const KNOWN = [
  'artifacts.archive',
  'artifacts.assign',
  'artifacts.claim',
  'artifacts.create',
  'artifacts.expire_claims',
  'artifacts.attach',
  'artifacts.parse',
  'artifacts.recognize',
  'artifacts.release',
  'artifacts.reprocess',
  'artifacts.skip',
  'artifacts.update',
  'comments.create',
  'comments.reopen',
  'comments.resolve',
  'routing_rules.assign',
  'routing_rules.match',
  'tag_sets.accept',
  'tag_sets.assign',
  'tag_sets.claim',
  'tag_sets.correction',
  'tag_sets.create',
  'tag_sets.delete',
  'tag_sets.escalate',
  'tag_sets.flag',
  'tag_sets.import',
  'tag_sets.merge',
  'tag_sets.reject',
  'tag_sets.release',
  'tag_sets.reopen',
  'tag_sets.submit',
  'tag_sets.supersede',
] as const;

/** Returns what happened in words; an action that is new to this page by its name. */
export function describeAction(action: string, t: TFunction<'documents/artifacts'>): string {
  const known = KNOWN.find((name) => name === action);
  return known ? t(`action_name.${known}`) : action;
}
