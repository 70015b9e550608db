import {
  Anchor,
  Card,
  Center,
  Chip,
  Group,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Page } from '@/kit/components/Page';
import { INDUSTRIES, parseTemplateSearch } from '../search';
import { TemplateDialog } from './TemplateDialog';

function matches(template: Schemas['SchemaTemplate'], q: string): boolean {
  const text = `${template.name} ${template.document_type} ${template.description}`;
  return text.toLowerCase().includes(q.toLowerCase());
}

export function TemplatesPage() {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { industry, q = '', template } = useSearch({ from: '/work/schemas/templates' });
  const navigate = useNavigate();
  const change = (changes: Record<string, unknown>) =>
    void navigate({
      to: '/schemas/templates',
      search: (last) => parseTemplateSearch({ ...last, ...changes }),
      replace: true,
    });
  const { data, error, isPending } = $api.useQuery(
    'get',
    '/api/v1/schema-templates',
    { params: { query: { ...(industry && { industry }), sort: 'name', page_size: 200 } } },
    { staleTime: Infinity },
  );
  const templates = (data?.data ?? []).filter((one) => matches(one, q));
  return (
    <Page title={t('templates.title')} description={t('templates.text')}>
      <TextInput
        type="search"
        aria-label={t('templates.search')}
        placeholder={t('templates.search')}
        leftSection={<Search size={16} aria-hidden />}
        value={q}
        onChange={(event) => change({ q: event.currentTarget.value })}
      />
      <Chip.Group value={industry ?? ''} onChange={(value) => change({ industry: value })}>
        <Group gap={6} role="group" aria-label={t('templates.industry')}>
          <Chip value="" size="xs" variant="light">
            {t('templates.all')}
          </Chip>
          {INDUSTRIES.map((value) => (
            <Chip key={value} value={value} size="xs" variant="light">
              {t(`industry.${value}`)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <ErrorAlert error={error} />
      {isPending && <Loading />}
      {data && templates.length === 0 && (
        <Center p="xl">
          <Text c="dimmed">{t('templates.none')}</Text>
        </Center>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 4 }} spacing="sm">
        {templates.map((one) => (
          <TemplateCard key={one.id} template={one} />
        ))}
      </SimpleGrid>
      <TemplateDialog id={template} close={() => change({ template: undefined })} />
    </Page>
  );
}

function TemplateCard({ template }: { template: Schemas['SchemaTemplate'] }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Card withBorder padding="sm">
      <Stack gap={4} h="100%">
        <Anchor
          component={Link}
          to="/schemas/templates"
          search={
            ((last: Record<string, unknown>) => ({
              ...last,
              template: template.id,
            })) as never
          }
          fw={600}
          lang="en"
        >
          {template.name}
        </Anchor>
        <Text size="sm" lang="en" flex={1}>
          {template.description}
        </Text>
        <Text size="xs" c="dimmed">
          {t(`industry.${template.industry}`)} ·{' '}
          {t('fields_count', { count: template.field_count })}
        </Text>
      </Stack>
    </Card>
  );
}
