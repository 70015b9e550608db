import { Button, Checkbox, Group, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { isApiError } from '@/kit/api/errors';
import { withFieldName } from '@/kit/forms/fieldErrors';
import { Unsaved, useIsChanged } from '@/kit/forms/unsaved';
import { Simulation } from '../simulation/Simulation';
import { ActionForm } from './ActionForm';
import { GroupEditor } from './GroupEditor';
import { type RuleDraft, toBody } from './draft';

interface Props {
  draft: RuleDraft;
  change: (changes: Partial<RuleDraft>) => void;
  submit: () => void;
  isPending: boolean;
  error: unknown;
  readOnly: boolean;
}

/** A rule: its name, when it applies, and what it does; with a simulation of what is written. */
export function RuleForm({ draft, change, submit, isPending, error, readOnly }: Props) {
  const { t } = useTranslation('workflow/routing_rules');
  const errorOf = (field: string) =>
    isApiError(error) && error.field === field ? error.message : undefined;
  const isDirty = useIsChanged([toBody(draft), draft.apply]);
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <fieldset disabled={readOnly} style={{ all: 'unset', display: 'block' }}>
          <Stack>
            <Unsaved isDirty={!readOnly && isDirty} />
            <TextInput
              label={t('form.name')}
              required
              maxLength={200}
              dir="auto"
              value={draft.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
              error={errorOf('name')}
            />
            <Section title={t('form.when')}>
              <GroupEditor
                group={draft.conditions}
                change={(conditions) => change({ conditions })}
                errorOf={errorOf}
                path="conditions"
                level={1}
                readOnly={readOnly}
              />
            </Section>
            <Section title={t('form.do')}>
              <ActionForm
                action={draft.action}
                change={(action) => change({ action })}
                errorOf={errorOf}
                readOnly={readOnly}
              />
            </Section>
            <Switches draft={draft} change={change} />
            <ErrorAlert error={withFieldName(error)} />
            {!readOnly && <Buttons isPending={isPending} />}
          </Stack>
        </fieldset>
      </form>
      {!readOnly && <Simulation rule={toBody(draft)} />}
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}

function Switches({ draft, change }: Pick<Props, 'draft' | 'change'>) {
  const { t } = useTranslation('workflow/routing_rules');
  return (
    <Stack gap="xs">
      <Checkbox
        label={t('form.enabled')}
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
      <Checkbox
        label={t('form.stop')}
        checked={draft.stop}
        onChange={(event) => change({ stop: event.currentTarget.checked })}
      />
      <Checkbox
        label={t('form.apply')}
        checked={draft.apply}
        onChange={(event) => change({ apply: event.currentTarget.checked })}
      />
    </Stack>
  );
}

function Buttons({ isPending }: { isPending: boolean }) {
  const { t } = useTranslation('workflow/routing_rules');
  const navigate = useNavigate();
  return (
    <Group justify="flex-end">
      <Button
        variant="default"
        onClick={() => void navigate({ to: '/routing', ignoreBlocker: true })}
      >
        {t('cancel')}
      </Button>
      <Button type="submit" loading={isPending}>
        {t('save')}
      </Button>
    </Group>
  );
}
