import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { SchemaSelect } from '@/insight/figures';
import { Page } from '@/kit/components/Page';
import { PageTabs } from '@/kit/components/PageTabs';
import { useMay } from '@/kit/session/may';

interface Props {
  schemaId: string | undefined;
  onSchema: (schemaId: string | undefined) => void;
  /** Further filters beside the schema. */
  filters?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of all pages of quality: its parts, and the schema that they are about. */
export function QualityFrame({ schemaId, onSchema, filters, actions, children }: Props) {
  const { t } = useTranslation('insight/quality');
  const may = useMay();
  const tabs = [
    { to: '/quality', title: t('tabs.overview') },
    { to: '/quality/fields', title: t('tabs.fields') },
    { to: '/quality/agreement', title: t('tabs.agreement') },
    { to: '/quality/disagreements', title: t('tabs.disagreements'), reviewer: true },
    { to: '/quality/people', title: t('tabs.people'), reviewer: true },
  ];
  return (
    <Page title={t('title')} actions={actions}>
      <PageTabs
        label={t('tabs.label')}
        tabs={tabs.filter(({ reviewer }) => !reviewer || may('quality:review'))}
      />
      <Group align="flex-end" gap="sm">
        <SchemaSelect value={schemaId} onChange={onSchema} w={220} />
        {filters}
      </Group>
      {children}
    </Page>
  );
}
