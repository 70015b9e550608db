import {
  Fieldset,
  Group,
  NumberInput,
  SimpleGrid,
  Stack,
  TagsInput,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { fieldError } from '@/kit/forms/fieldErrors';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import type { Draft, DraftState, ReviewPolicy } from '../useDraft';

interface Props {
  state: DraftState;
  readOnly: boolean;
}

export function Settings({ state, readOnly }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { draft } = state;
  const change = (changes: Partial<Draft>) => state.change(changes);
  const errorOf = (name: string) => fieldError(state.error, name);
  return (
    <Fieldset variant="unstyled" disabled={readOnly} aria-label={t('tab.settings')} maw={760}>
      <Stack gap="sm">
        <Group grow align="flex-start">
          <TextInput
            label={t('column.name')}
            required
            maxLength={200}
            dir="auto"
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
            error={errorOf('name')}
          />
          <TextInput
            label={t('column.document_type')}
            maxLength={100}
            value={draft.document_type}
            onChange={(event) => change({ document_type: event.currentTarget.value })}
            error={errorOf('document_type')}
          />
        </Group>
        <TextInput
          label={t('settings.description')}
          dir="auto"
          value={draft.description}
          onChange={(event) => change({ description: event.currentTarget.value })}
          error={errorOf('description')}
        />
        <Textarea
          label={t('settings.guidelines')}
          description={t('settings.guidelines_hint')}
          autosize
          minRows={6}
          maxRows={24}
          dir="auto"
          value={draft.guidelines}
          onChange={(event) => change({ guidelines: event.currentTarget.value })}
          error={errorOf('guidelines')}
        />
        <TagsInput
          label={t('settings.skills')}
          description={t('settings.skills_hint')}
          disabled={readOnly}
          value={draft.required_skills}
          onChange={(required_skills) => change({ required_skills })}
          error={errorOf('required_skills')}
        />
        <PolicyForm state={state} errorOf={errorOf} />
      </Stack>
    </Fieldset>
  );
}

interface PolicyProps {
  state: DraftState;
  errorOf: (name: string) => string | undefined;
}

const PERCENT = 100;

function PolicyForm({ state, errorOf }: PolicyProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const policy = state.draft.review_policy;
  const set = (changes: Partial<ReviewPolicy>) =>
    state.change({ review_policy: { ...policy, ...changes } });
  const share = (value: string | number) => {
    const number = value === '' ? NaN : Number(value);
    return Number.isNaN(number) ? null : number / PERCENT;
  };
  const percent = (value: number | null) =>
    value === null ? '' : Math.round(value * PERCENT * PERCENT) / PERCENT;
  const input = (name: keyof ReviewPolicy) => ({
    label: t(`policy.${name}`),
    description: t(`policy_hint.${name}`),
    error: errorOf(`review_policy.${name}`),
  });
  const percents = { min: 0, max: PERCENT, suffix: ' %', decimalScale: 2 } as const;
  return (
    <Stack gap="xs" component="section" aria-label={t('policy.title')}>
      <Title order={2} size="h5" mt="xs">
        {t('policy.title')}
      </Title>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
        <IntegerInput
          {...input('labels_per_artifact')}
          min={1}
          max={20}
          value={policy.labels_per_artifact}
          onChange={(value) => value !== '' && set({ labels_per_artifact: value })}
        />
        <NumberInput
          {...input('sample_rate')}
          {...percents}
          value={percent(policy.sample_rate)}
          onChange={(value) => set({ sample_rate: share(value) ?? policy.sample_rate })}
        />
        <NumberInput
          {...input('auto_accept_agreement')}
          {...percents}
          value={percent(policy.auto_accept_agreement)}
          onChange={(value) => set({ auto_accept_agreement: share(value) })}
        />
        <NumberInput
          {...input('auto_accept_confidence')}
          {...percents}
          value={percent(policy.auto_accept_confidence)}
          onChange={(value) => set({ auto_accept_confidence: share(value) })}
        />
        <IntegerInput
          {...input('max_rejections')}
          min={0}
          max={100}
          value={policy.max_rejections ?? ''}
          onChange={(value) => set({ max_rejections: value === '' ? null : value })}
        />
      </SimpleGrid>
    </Stack>
  );
}
