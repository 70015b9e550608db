import { Anchor, Paper, Stack, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { usePeople } from '@/identity/pickers';
import { useFormat } from '@/kit/i18n/format';
import { useSchemaList } from '@/schemas/artifact_schemas';
import { DueTime } from '../list/DueTime';
import type { Artifact } from '../useDocuments';
import styles from './detail.module.css';

function Fact({ label, children }: { label: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd dir="auto">{children}</dd>
    </>
  );
}

function Work({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  const people = usePeople();
  const schemas = useSchemaList();
  const assignees = row.assignees.map(
    ({ user_id, team_id }) => people.name(user_id ?? team_id) ?? t('someone'),
  );
  return (
    <dl className={styles.facts}>
      <Fact label={t('fact.schema')}>
        {row.schema_id === null ? (
          t('no_schema')
        ) : (
          <Anchor component={Link} to={`/schemas/${row.schema_id}`} size="sm">
            {schemas.name(row.schema_id) ?? '…'}
          </Anchor>
        )}
      </Fact>
      <Fact label={t('column.assignees')}>
        {assignees.length > 0 ? assignees.join(', ') : t('pool')}
      </Fact>
      {row.claim && (
        <Fact label={t('fact.claim')}>
          {t('claimed', {
            name: people.name(row.claim.user_id) ?? t('someone'),
            until: format.relative(row.claim.expires_at),
          })}
        </Fact>
      )}
      <Fact label={t('column.priority')}>{row.priority}</Fact>
      <Fact label={t('column.due')}>{row.due_at !== null && <DueTime row={row} />}</Fact>
      <Fact label={t('fact.gold')}>{row.gold === true && t('yes')}</Fact>
    </dl>
  );
}

function File({ row }: { row: Artifact }) {
  const { t, i18n } = useTranslation('documents/artifacts');
  const format = useFormat();
  const people = usePeople();
  const language =
    row.language && new Intl.DisplayNames([i18n.language], { type: 'language' }).of(row.language);
  return (
    <dl className={styles.facts}>
      <Fact label={t('column.created')}>{format.dateTime(row.created_at)}</Fact>
      <Fact label={t('fact.created_by')}>{people.name(row.created_by)}</Fact>
      <Fact label={t('fact.media_type')}>{row.media_type}</Fact>
      <Fact label={t('fact.size')}>{format.bytes(row.size_bytes)}</Fact>
      <Fact label={t('fact.pages')}>{row.page_count}</Fact>
      <Fact label={t('fact.language')}>{language}</Fact>
      <Fact label={t('fact.ocr')}>{row.ocr !== 'none' && t(`ocr.${row.ocr}`)}</Fact>
      <Fact label={t('fact.external_id')}>{row.external_id}</Fact>
      {row.parent_id !== null && (
        <Fact label={t('fact.parent')}>
          <Link to="/documents/$artifactId" params={{ artifactId: row.parent_id }}>
            {t('fact.parent_open')}
          </Link>
        </Fact>
      )}
      {row.attachment_count !== null && row.attachment_count > 0 && (
        <Fact label={t('fact.attachments')}>
          <Link to="/documents" search={{ parent: row.id }}>
            {row.attachment_count}
          </Link>
        </Fact>
      )}
    </dl>
  );
}

export function Facts({ row }: { row: Artifact }) {
  const { t } = useTranslation('documents/artifacts');
  const metadata = Object.entries(row.metadata);
  return (
    <>
      <Paper withBorder p="sm">
        <Stack gap="xs">
          <Title order={2} size="h5">
            {t('facts.work')}
          </Title>
          <Work row={row} />
        </Stack>
      </Paper>
      <Paper withBorder p="sm">
        <Stack gap="xs">
          <Title order={2} size="h5">
            {t('facts.file')}
          </Title>
          <File row={row} />
        </Stack>
      </Paper>
      {metadata.length > 0 && (
        <Paper withBorder p="sm">
          <Stack gap="xs">
            <Title order={2} size="h5">
              {t('facts.metadata')}
            </Title>
            <dl className={styles.facts}>
              {metadata.map(([key, value]) => (
                <Fact key={key} label={key}>
                  {String(value)}
                </Fact>
              ))}
            </dl>
          </Stack>
        </Paper>
      )}
    </>
  );
}
