import { ActionIcon, Button, CopyButton, Group, Text, TextInput, Tooltip } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Check, Copy, Download, ExternalLink } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api, fetchBlob, unwrap } from '@/kit/api/client';
import { saveBlob } from '@/kit/api/download';
import type { Schemas } from '@/kit/api/types';
import { notifyError } from '@/kit/components/notify';
import { Panel } from '@/kit/components/Panel';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { basePath } from '@/kit/environment';
import { requireOrganization } from '@/kit/session/organization';

type Sso = Schemas['Sso'];

/** Whether single sign-on works, the way to test it, and what the provider needs to know. */
export function StatePanel({ sso }: { sso: Sso | undefined }) {
  const { t } = useTranslation('identity/sso');
  return (
    <Panel title={t('state.title')}>
      {sso ? (
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <StatusBadge tone={sso.enabled ? 'good' : 'neutral'}>
              {sso.enabled ? t('state.on') : t('state.off')}
            </StatusBadge>
            {sso.enforced && <StatusBadge tone="active">{t('state.enforced')}</StatusBadge>}
          </Group>
          {sso.enabled && <TestButton />}
        </Group>
      ) : (
        <Text size="sm">{t('state.none')}</Text>
      )}
      <ProviderValues sso={sso} />
    </Panel>
  );
}

/** Starts a sign-in at the provider in another tab. */
function TestButton() {
  const { t } = useTranslation('identity/sso');
  const start = useMutation({
    mutationFn: (tab: Window | null) =>
      unwrap(
        api.POST('/api/v1/auth/sso/start', {
          body: {
            org_slug: requireOrganization(),
            redirect_uri: `${window.location.origin}${basePath}/sign-on`,
          },
        }),
      ).then(({ data }) => {
        if (tab) tab.location.href = data.redirect_url;
      }),
    onError: (error, tab) => {
      tab?.close();
      notifyError(error);
    },
  });
  return (
    <Tooltip label={t('state.test_text')}>
      <Button
        variant="default"
        size="compact-md"
        leftSection={<ExternalLink size={14} />}
        loading={start.isPending}
        // The tab has to be opened by the click itself.
        onClick={() => start.mutate(window.open('', '_blank'))}
      >
        {t('state.test')}
      </Button>
    </Tooltip>
  );
}

function ProviderValues({ sso }: { sso: Sso | undefined }) {
  const { t } = useTranslation('identity/sso');
  const metadata = `/api/v1/auth/sso/${requireOrganization()}/saml/metadata`;
  const download = useMutation({
    mutationFn: () => fetchBlob(metadata),
    onSuccess: (blob) => saveBlob(blob, 'metadata.xml'),
    onError: notifyError,
  });
  return (
    <>
      {sso?.oidc && <CopyField name={t('values.redirect_uri')} value={sso.oidc.redirect_uri} />}
      {sso?.saml && (
        <>
          <CopyField name={t('values.entity_id')} value={sso.saml.entity_id} />
          <CopyField name={t('values.acs_url')} value={sso.saml.acs_url} />
        </>
      )}
      {!sso && (
        <Text size="xs" c="dimmed">
          {t('values.oidc_later')}
        </Text>
      )}
      {sso?.kind !== 'oidc' && (
        <Group>
          <Button
            variant="default"
            size="compact-md"
            h="auto"
            py={4}
            styles={{ label: { whiteSpace: 'normal' } }}
            leftSection={<Download size={14} />}
            loading={download.isPending}
            onClick={() => download.mutate()}
          >
            {`${t('values.metadata')} (SAML)`}
          </Button>
        </Group>
      )}
    </>
  );
}

function CopyField({ name, value }: { name: string; value: string }) {
  const { t } = useTranslation('identity/sso');
  return (
    <TextInput
      label={name}
      value={value}
      readOnly
      variant="filled"
      rightSection={
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={copied ? t('values.copied') : t('values.copy', { name })}
              onClick={copy}
            >
              {copied ? <Check size={16} /> : <Copy size={16} />}
            </ActionIcon>
          )}
        </CopyButton>
      }
    />
  );
}
