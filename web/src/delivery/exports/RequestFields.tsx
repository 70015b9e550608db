import {
  Badge,
  Checkbox,
  Group,
  NativeSelect,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Loading } from '@/kit/components/Loading';
import { Section } from '@/kit/components/Section';
import { fieldError } from '@/kit/forms/fieldErrors';
import { SchemaField } from '@/kit/forms/SchemaField';
import { readForm } from '@/kit/forms/schema';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import { useFormats } from './formats';
import {
  CHOICES,
  type ExportRequest,
  PARTS,
  PERIODS,
  type SetRequest,
  TAG_SET_STATUSES,
  TAGS,
} from './request';

export interface RequestProps {
  request: ExportRequest;
  set: SetRequest;
  error: unknown;
}

/** The format of an export with its options, and what it holds. */
export function RequestFields(props: RequestProps) {
  const { t } = useTranslation('delivery/exports');
  return (
    <Stack gap="lg">
      <Section title={t('format')}>
        <FormatPicker {...props} />
        {/* Its texts may have to be loaded: the choice above keeps the focus meanwhile. */}
        <Suspense fallback={<Loading />}>
          <OptionFields {...props} />
        </Suspense>
      </Section>
      <Section title={t('content')}>
        <FilterFields {...props} />
        <IncludeFields {...props} />
      </Section>
    </Stack>
  );
}

function FormatPicker({ request, set, error }: RequestProps) {
  const { t, i18n } = useTranslation('delivery/exports');
  const describe = (id: string, description: string): string => {
    const key = `format_texts.${id}`;
    const isKnown: boolean = i18n.exists(key, { ns: 'delivery/exports' });
    return isKnown ? t(key as 'format_texts.jsonl') : description;
  };
  return (
    <Radio.Group
      aria-label={t('format')}
      value={request.format}
      onChange={(format) => set({ format })}
      error={fieldError(error, 'format')}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {useFormats()?.map(({ id, name, description, keeps }) => (
          <Radio.Card key={id} value={id} p="sm" radius="sm" aria-label={name}>
            <Group wrap="nowrap" align="flex-start" gap="sm">
              <Radio.Indicator mt={2} />
              <Stack gap={4}>
                <Text size="sm" fw={500}>
                  {name}
                </Text>
                <Text size="xs" c="dimmed">
                  {describe(id, description)}
                </Text>
                <Group gap={4}>
                  {keeps.map((part) => (
                    <Badge key={part} size="xs" variant="default" tt="none" fw={400}>
                      {t(`keeps.${part}`)}
                    </Badge>
                  ))}
                </Group>
              </Stack>
            </Group>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

function OptionFields({ request, set, error }: RequestProps) {
  const format = useFormats()?.find(({ id }) => id === request.format);
  return readForm(format?.options_schema).fields.map((field) => (
    <SchemaField
      key={`${request.format}/${field.name}`}
      field={field}
      context={request.format}
      value={request.options[field.name]}
      isStored={false}
      error={fieldError(error, `options.${field.name}`)}
      onChange={(value) => set({ options: { ...request.options, [field.name]: value } })}
    />
  ));
}

function FilterFields({ request, set, error }: RequestProps) {
  const { t } = useTranslation('delivery/exports');
  const hidden = Object.keys(request.hidden);
  return (
    <Stack>
      <SchemaSelect
        label={t('schema')}
        placeholder={t('any_schema')}
        value={request.schemaId}
        onChange={(id) => set({ schemaId: id ?? null })}
        error={fieldError(error, 'filter.schema_id')}
      />
      <NativeSelect
        label={t('tags')}
        description={t(`tags_hints.${request.tags}`)}
        value={request.tags}
        data={TAGS.map((one) => ({ value: one, label: t(`tags_values.${one}`) }))}
        onChange={({ currentTarget: { value } }) =>
          set({ tags: TAGS.find((one) => one === value) ?? 'accepted' })
        }
        error={fieldError(error, 'include.tags')}
      />
      <Checkbox.Group
        label={t('tag_set_statuses')}
        description={t('tag_set_statuses_hint')}
        value={[...request.statuses]}
        onChange={(next) => set({ statuses: TAG_SET_STATUSES.filter((one) => next.includes(one)) })}
        error={fieldError(error, 'filter.statuses')}
      >
        <Group mt={4} mb={4}>
          {TAG_SET_STATUSES.map((one) => (
            <Checkbox key={one} value={one} label={t(`tag_set_status.${one}`)} />
          ))}
        </Group>
      </Checkbox.Group>
      <PeriodFields request={request} set={set} error={error} />
      {hidden.length > 0 && <Text size="sm">{t('kept', { names: hidden.join(', ') })}</Text>}
    </Stack>
  );
}

function PeriodFields({ request, set, error }: RequestProps) {
  const { t } = useTranslation('delivery/exports');
  const { period } = request;
  return (
    <Group align="flex-start" gap="sm">
      <NativeSelect
        label={t('period')}
        value={period}
        data={PERIODS.map((one) => ({ value: one, label: t(`periods.${one}`) }))}
        onChange={({ currentTarget: { value } }) =>
          set({ period: PERIODS.find((one) => one === value) ?? 'decided' })
        }
      />
      <TextInput
        type="date"
        label={t('from')}
        value={request.from}
        onChange={(event) => set({ from: event.currentTarget.value })}
        error={fieldError(error, `filter.${period}_after`)}
      />
      <TextInput
        type="date"
        label={t('to')}
        value={request.to}
        onChange={(event) => set({ to: event.currentTarget.value })}
        error={fieldError(error, `filter.${period}_before`)}
      />
    </Group>
  );
}

function IncludeFields({ request, set, error }: RequestProps) {
  const { t } = useTranslation('delivery/exports');
  return (
    <Group gap="sm" align="flex-start">
      {PARTS.map((part) => (
        <NativeSelect
          key={part}
          label={t(`parts.${part}`)}
          value={request.parts[part]}
          data={CHOICES.map((one) => ({ value: one, label: t(`choices.${one}`) }))}
          onChange={({ currentTarget: { value } }) => {
            const choice = CHOICES.find((one) => one === value) ?? 'auto';
            set({ parts: { ...request.parts, [part]: choice } });
          }}
          error={fieldError(error, `include.${part}`)}
        />
      ))}
    </Group>
  );
}
