import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { KeyRound } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './CopyButton';

interface Props {
  /** Null if the answer was repeated for an idempotency key. */
  secret: string | null;
  label: string;
}

/** A secret that is shown this one time. */
export function SecretOnce({ secret, label }: Props) {
  const { t } = useTranslation();
  if (secret === null) return <Text size="sm">{t('secret.gone')}</Text>;
  return (
    <Alert color="yellow" variant="light" icon={<KeyRound size={18} />} title={label}>
      <Stack gap="xs">
        <Text size="sm">{t('secret.once')}</Text>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Code
            block
            flex={1}
            miw={0}
            data-testid="secret"
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          >
            {secret}
          </Code>
          <CopyButton value={secret} label={t('copy', { what: label })} />
        </Group>
      </Stack>
    </Alert>
  );
}
