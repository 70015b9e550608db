import { ActionIcon, Alert, Badge, Group, Paper, Switch, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type DragEvent, type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { useFormat } from '@/kit/i18n/format';
import type { ApiNode } from '../conditions';
import { refreshRules, type Rule } from '../useRules';
import { useDescribe } from '../useDescribe';
import styles from './list.module.css';

export interface RuleCardProps {
  rule: Rule;
  index: number;
  count: number;
  move: (from: number, to: number) => void;
  readOnly: boolean;
}

const TYPE = 'application/x-routing-rule';

function useDragging({ index, move }: RuleCardProps) {
  const [over, setOver] = useState(false);
  const handlers = {
    draggable: true,
    onDragStart: (event: DragEvent) => event.dataTransfer.setData(TYPE, String(index)),
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes(TYPE)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      move(Number(event.dataTransfer.getData(TYPE)), index);
    },
  };
  return { over, handlers };
}

export function RuleCard(props: RuleCardProps) {
  const { t } = useTranslation('workflow/routing_rules');
  const { rule, index, readOnly, move } = props;
  const dragging = useDragging(props);
  const onKeyDown = (event: KeyboardEvent) => {
    if (readOnly || !event.altKey) return;
    if (event.key === 'ArrowUp') move(index, index - 1);
    else if (event.key === 'ArrowDown') move(index, index + 1);
    else return;
    event.preventDefault();
  };
  return (
    <li>
      <Paper
        withBorder
        p="sm"
        className={styles.card}
        data-over={dragging.over || undefined}
        data-disabled={!rule.enabled || undefined}
        {...(!readOnly && dragging.handlers)}
      >
        <div className={styles.head}>
          <span className={styles.number}>{index + 1}.</span>
          <div>
            <Link
              to="/routing/$ruleId"
              params={{ ruleId: rule.id }}
              className={styles.link}
              dir="auto"
              aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
              onKeyDown={onKeyDown}
            >
              {rule.name}
            </Link>
            <Words rule={rule} />
          </div>
          {!readOnly && <Controls {...props} />}
        </div>
        {rule.disabled_reason && (
          <Alert color="yellow" mt="xs">
            {t(`disabled_reason.${rule.disabled_reason}`)}
          </Alert>
        )}
      </Paper>
    </li>
  );
}

function Words({ rule }: { rule: Rule }) {
  const { t } = useTranslation('workflow/routing_rules');
  const format = useFormat();
  const describe = useDescribe();
  return (
    <>
      <div className={styles.words} dir="auto">
        {t('if', { conditions: describe.conditions(rule.conditions as ApiNode) })}
      </div>
      <div className={styles.words} dir="auto">
        {t('then', { actions: describe.action(rule.action).join(', ') })}
      </div>
      <Group gap="xs" mt={2}>
        {!rule.enabled && (
          <Badge variant="dot" color="gray" tt="none">
            {t('off')}
          </Badge>
        )}
        {!rule.stop && (
          <Text size="xs" c="dimmed">
            {t('goes_on')}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {t('matches', { count: rule.match_count })}
          {rule.last_matched_at !== null &&
            ` · ${t('last_match', { when: format.relative(rule.last_matched_at) })}`}
        </Text>
      </Group>
    </>
  );
}

function Controls({ rule, index, count, move }: RuleCardProps) {
  const { t } = useTranslation('workflow/routing_rules');
  const update = $api.useMutation('patch', '/api/v1/routing-rules/{rule_id}');
  const toggle = (enabled: boolean) =>
    update.mutate(
      { params: { path: { rule_id: rule.id } }, body: { enabled, revision: rule.revision } },
      { onSettled: () => void refreshRules() },
    );
  const button = { variant: 'subtle', size: 28 } as const;
  return (
    <Group gap={2} wrap="nowrap">
      <ErrorAlert error={update.error} />
      <ActionIcon
        {...button}
        aria-label={t('up', { name: rule.name })}
        disabled={index === 0}
        onClick={() => move(index, index - 1)}
      >
        <ArrowUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...button}
        aria-label={t('down', { name: rule.name })}
        disabled={index === count - 1}
        onClick={() => move(index, index + 1)}
      >
        <ArrowDown size={16} aria-hidden />
      </ActionIcon>
      <Switch
        aria-label={t('enabled_name', { name: rule.name })}
        checked={rule.enabled}
        disabled={update.isPending}
        onChange={(event) => toggle(event.currentTarget.checked)}
      />
    </Group>
  );
}
