import { SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch, useIdempotency } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { Loaded } from '@/kit/components/Loaded';
import { Page } from '@/kit/components/Page';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { ConnectorForm } from './ConnectorForm';
import { refresh } from './refresh';
import type { Connector } from './values';

type ConnectorTypeInfo = Schemas['TypeOfConnector'];

function useTypes() {
  return $api.useQuery(
    'get',
    '/api/v1/connectors/types',
    { params: { query: { page_size: 100 } } },
    { staleTime: Infinity },
  );
}

export function NewConnectorPage() {
  const { t } = useTranslation('intake/connectors');
  const { type } = useSearch({ from: '/work/connectors/new' });
  return (
    <Page title={type ? `${t('create')}: ${t(`types.${type}`)}` : t('create')} size="narrow">
      <Loaded query={useTypes()}>
        {({ data }) => {
          const info = data.find((one) => one.type === type);
          return info ? <Create key={info.type} info={info} /> : <Types types={data} />;
        }}
      </Loaded>
    </Page>
  );
}

function Types({ types }: { types: readonly ConnectorTypeInfo[] }) {
  const { t } = useTranslation('intake/connectors');
  return (
    <Stack>
      <Text size="sm">{t('choose_type')}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {types.map(({ type }) => (
          <UnstyledButton
            key={type}
            component={Link}
            to={`/connectors/new?type=${type}`}
            p="sm"
            bd="1px solid var(--mantine-color-default-border)"
            bdrs="sm"
          >
            <Text size="sm" fw={500}>
              {t(`types.${type}`)}
            </Text>
            <Text size="xs" c="dimmed">
              {t(`type_texts.${type}`)}
            </Text>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function Create({ info }: { info: ConnectorTypeInfo }) {
  const { t } = useTranslation('intake/connectors');
  const navigate = useNavigate();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/connectors');
  return (
    <ConnectorForm
      info={info}
      submitText={t('create')}
      pending={create.isPending}
      error={create.error}
      onSubmit={(values) => {
        const body = { ...values, type: info.type };
        create.mutate(
          { params: { header: idempotency.headers(body) }, body },
          {
            onSuccess: ({ data }) => {
              refresh();
              void navigate({
                to: '/connectors/$connectorId',
                params: { connectorId: data.id },
                ignoreBlocker: true,
              });
            },
          },
        );
      }}
    />
  );
}

export function EditConnectorPage() {
  const { t } = useTranslation('intake/connectors');
  const { connectorId } = useParams({ from: '/work/connectors/$connectorId/edit' });
  const query = $api.useQuery(
    'get',
    '/api/v1/connectors/{connector_id}',
    { params: { path: { connector_id: connectorId } } },
    // What is edited must not change below the hands.
    { refetchOnWindowFocus: false },
  );
  const types = useTypes();
  return (
    <Page title={t('edit')} size="narrow">
      <Loaded query={types}>
        {({ data: infos }) => (
          <Loaded query={query}>
            {({ data }) => {
              const info = infos.find(({ type }) => type === data.type);
              return info ? (
                <EditedRecord latest={data}>
                  {(record) => <Edit connector={record} info={info} />}
                </EditedRecord>
              ) : (
                <Text size="sm">{t('type_gone')}</Text>
              );
            }}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function Edit({ connector, info }: { connector: Connector; info: ConnectorTypeInfo }) {
  const { t } = useTranslation('intake/connectors');
  const navigate = useNavigate();
  const update = $api.useMutation('patch', '/api/v1/connectors/{connector_id}');
  return (
    <ConnectorForm
      connector={connector}
      info={info}
      submitText={t('save')}
      pending={update.isPending}
      error={update.error}
      onSubmit={(body) =>
        update.mutate(
          {
            params: {
              path: { connector_id: connector.id },
              header: ifMatch(connector.revision),
            },
            body,
          },
          {
            onSuccess: () => {
              refresh();
              void navigate({
                to: '/connectors/$connectorId',
                params: { connectorId: connector.id },
                ignoreBlocker: true,
              });
            },
          },
        )
      }
    />
  );
}
