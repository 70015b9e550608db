import { Button, Group, NativeSelect, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { Section } from '@/kit/components/Section';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { useFormat } from '@/kit/i18n/format';
import { useMay } from '@/kit/session/may';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import { FileDrop } from './FileDrop';
import { FileContent } from './FileContent';
import { FORMATS, LABELS, type Settings, useImport } from './useImport';

const SHOWN = ['schema_id', 'format', 'labels'];

export function ImportPage() {
  const { t } = useTranslation('intake/bulk_import');
  const job = useImport();
  const { file } = job;
  return (
    <Page title={t('title')} description={t('description')} size="narrow">
      <Stack gap="lg">
        <FileDrop file={file} onFile={job.choose} />
        {!file && <ErrorAlert error={job.error} />}
        {file && job.preview && (
          <>
            <Section title={t('content')}>
              <FileContent preview={job.preview} targets={job.targets} setTarget={job.setTarget} />
            </Section>
            <SettingsFields settings={job.settings} set={job.setSettings} error={job.error} />
            <ErrorAlert error={otherError(job.error, SHOWN)} />
            <Start job={job} />
          </>
        )}
      </Stack>
    </Page>
  );
}

function Start({ job }: { job: ReturnType<typeof useImport> }) {
  const { t } = useTranslation('intake/bulk_import');
  const format = useFormat();
  if (job.share !== undefined)
    return (
      <Stack gap={6}>
        <Progress value={job.share * 100} aria-label={t('upload.title')} animated />
        <Group justify="space-between">
          <Text size="sm" role="status">
            {t('upload.progress', { share: format.percent(job.share) })}
          </Text>
          <Button size="compact-sm" variant="default" onClick={job.abort}>
            {t('upload.cancel')}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <Stack gap="xs" align="flex-start">
      {job.lacksText && (
        <Text size="sm" c="var(--mantine-color-error)">
          {t('needs_text')}
        </Text>
      )}
      <Button disabled={job.lacksText} onClick={job.start}>
        {t('start')}
      </Button>
    </Stack>
  );
}

interface SettingsProps {
  settings: Settings;
  set: (changes: Partial<Settings>) => void;
  error: unknown;
}

function SettingsFields({ settings, set, error }: SettingsProps) {
  const { t } = useTranslation('intake/bulk_import');
  const may = useMay();
  const labels = LABELS.filter((one) => one !== 'accepted' || may('tag_sets:review'));
  return (
    <Section title={t('settings')}>
      <SchemaSelect
        label={t('schema')}
        placeholder={t('any_schema')}
        description={t('schema_hint')}
        only="active"
        value={settings.schemaId}
        onChange={(id) => set({ schemaId: id ?? null })}
        error={fieldError(error, 'schema_id')}
      />
      <NativeSelect
        label={t('format')}
        value={settings.format}
        data={FORMATS.map((one) => ({ value: one, label: t(`formats.${one}`) }))}
        onChange={({ currentTarget: { value } }) =>
          set({ format: FORMATS.find((one) => one === value) ?? 'auto' })
        }
        error={fieldError(error, 'format')}
      />
      <NativeSelect
        label={t('labels')}
        description={t(`label_hints.${settings.labels}`)}
        value={settings.labels}
        data={labels.map((one) => ({ value: one, label: t(`label_values.${one}`) }))}
        onChange={({ currentTarget: { value } }) =>
          set({ labels: LABELS.find((one) => one === value) ?? 'submitted' })
        }
        error={fieldError(error, 'labels')}
      />
    </Section>
  );
}
