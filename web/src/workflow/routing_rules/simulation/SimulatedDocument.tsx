import { Badge, Group, Stack, Text } from '@mantine/core';
import { Check, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import type { ApiNode } from '../conditions';
import { useDescribe } from '../useDescribe';
import styles from './simulation.module.css';

type Simulated = Schemas['SimulatedDocument'];
type Explained = Schemas['RuleExplanation'];

const NOTES = ['no_member_can_label', 'no_member_has_the_skills', 'user_cannot_label'] as const;

interface Explanation extends ApiNode {
  matched: boolean;
  actual?: unknown;
  all?: Explanation[];
  any?: Explanation[];
}

export function SimulatedDocument({ document }: { document: Simulated }) {
  const { t } = useTranslation('workflow/routing_rules');
  const describe = useDescribe();
  const actions = describe.action(document.outcome);
  const note = document.outcome.note;
  const known = NOTES.find((name) => name === note);
  const matched = document.matched.map(({ name }) => name).join(', ');
  return (
    <details className={styles.document}>
      <summary>
        <Text component="span" fw={600} dir="auto">
          {document.name}
        </Text>
        <Text component="span" size="sm" className={styles.outcome} dir="auto">
          {document.matched.length === 0
            ? t('simulation.no_match')
            : t('simulation.match', { rules: matched, actions: actions.join(', ') })}
        </Text>
      </summary>
      <Stack gap="xs" pt="xs">
        {!document.waiting && (
          <Text size="sm" c="dimmed">
            {t('simulation.not_waiting')}
          </Text>
        )}
        {note !== null && <Text size="sm">{known ? t(`note.${known}`) : note}</Text>}
        {document.rules.map((rule, index) => (
          <RuleResult key={rule.rule_id ?? index} rule={rule} />
        ))}
      </Stack>
    </details>
  );
}

function RuleResult({ rule }: { rule: Explained }) {
  const { t } = useTranslation('workflow/routing_rules');
  const explanation = rule.conditions as Explanation | null;
  return (
    <div className={styles.rule}>
      <Group gap="xs">
        <Sign matched={rule.matched} />
        <Text size="sm" fw={600} dir="auto">
          {rule.position}. {rule.name}
        </Text>
        {rule.skipped_because && (
          <Badge variant="dot" color="gray" tt="none">
            {t(`skipped.${rule.skipped_because}`)}
          </Badge>
        )}
      </Group>
      {explanation && <Why node={explanation} />}
    </div>
  );
}

function Sign({ matched }: { matched: boolean }) {
  const { t } = useTranslation('workflow/routing_rules');
  const Icon = matched ? Check : X;
  return (
    <Icon
      size={16}
      className={styles.sign}
      data-matched={matched || undefined}
      role="img"
      aria-label={t(matched ? 'simulation.holds' : 'simulation.fails')}
    />
  );
}

/** A condition with what the document has, or a group with its conditions. */
function Why({ node }: { node: Explanation }) {
  const { t } = useTranslation('workflow/routing_rules');
  const describe = useDescribe();
  const items = node.all ?? node.any;
  if (items) {
    return (
      <div className={styles.group}>
        <Group gap={6}>
          <Sign matched={node.matched} />
          <Text size="sm">{t(node.all ? 'group.all' : 'group.any')}</Text>
        </Group>
        {items.map((item, index) => (
          <Why key={index} node={item} />
        ))}
      </div>
    );
  }
  if (node.attribute === undefined) return null;
  return (
    <div className={styles.group}>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <Sign matched={node.matched} />
        <Text size="sm" dir="auto">
          {describe.condition(node)}{' '}
          <Text component="span" c="dimmed" size="sm">
            {t('simulation.actual', {
              value: describe.value(node.attribute, node.actual),
            })}
          </Text>
        </Text>
      </Group>
    </div>
  );
}
