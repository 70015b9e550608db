import type { Schemas } from '@/kit/api/types';
import { fromConditions, type Group, newCondition, newGroup, toConditions } from '../conditions';
import type { Action, Rule } from '../useRules';

export interface RuleDraft {
  name: string;
  enabled: boolean;
  stop: boolean;
  /** Also routes the documents that wait. */
  apply: boolean;
  conditions: Group;
  action: Action;
}

export function newDraft(): RuleDraft {
  return {
    name: '',
    enabled: true,
    stop: true,
    apply: false,
    conditions: newGroup('all', [newCondition()]),
    action: { strategy: 'everyone' },
  };
}

export function toDraft(rule: Rule): RuleDraft {
  const { name, enabled, stop, action } = rule;
  const conditions = fromConditions(rule.conditions);
  return { name, enabled, stop, apply: false, conditions, action: { ...action } };
}

/** The rule as the API has it. A strategy is sent only with a team. */
export function toBody(draft: RuleDraft) {
  const { name, enabled, stop, action } = draft;
  const conditions = toConditions(draft.conditions) as Schemas['RoutingConditions'];
  const strategy = action.team_id ? (action.strategy ?? 'everyone') : null;
  return { name, enabled, stop, conditions, action: { ...action, strategy } };
}
