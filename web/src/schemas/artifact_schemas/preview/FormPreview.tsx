import { Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Markdown } from '@/kit/markdown/Markdown';
import type { DraftField } from '../model';
import { PreviewInput } from './PreviewInput';
import { PreviewTable } from './PreviewTable';
import styles from './preview.module.css';

interface Props {
  fields: readonly DraftField[];
  guidelines?: string;
  /** The field that is edited. */
  current?: string | undefined;
}

/** The labeling form as people will see it. It can be tried out; nothing is saved. */
export function FormPreview({ fields, guidelines, current }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Paper withBorder p="sm" component="section" aria-label={t('preview.title')}>
      <Stack gap="md">
        {guidelines !== undefined && guidelines.trim() !== '' && (
          <details>
            <summary>{t('preview.guidelines')}</summary>
            <Markdown text={guidelines} />
          </details>
        )}
        {fields.length === 0 && <Text c="dimmed">{t('preview.empty')}</Text>}
        {fields.map((field) => (
          <div
            key={field.uid}
            className={styles.field}
            data-current={field.uid === current ? true : undefined}
          >
            {field.type === 'table' ? (
              <PreviewTable field={field} />
            ) : (
              <PreviewInput field={field} />
            )}
          </div>
        ))}
      </Stack>
    </Paper>
  );
}
