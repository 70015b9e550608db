import { Box, Group, Paper, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './CopyButton';

interface Props {
  /** Names the block. */
  label: string;
  code: string;
  maxHeight?: number;
}

/** Text in lines as it is, with a button that copies it. */
export function CodeBlock({ label, code, maxHeight = 320 }: Props) {
  const { t } = useTranslation();
  return (
    <Paper withBorder>
      <Group justify="space-between" px="sm" py={2} wrap="nowrap">
        <Text size="xs" c="dimmed" fw={600}>
          {label}
        </Text>
        <CopyButton value={code} label={t('copy', { what: label })} />
      </Group>
      <Box
        component="pre"
        tabIndex={0}
        role="group"
        aria-label={label}
        m={0}
        px="sm"
        pb="sm"
        mah={maxHeight}
        fz="xs"
        ff="monospace"
        dir="auto"
        style={{ overflow: 'auto', whiteSpace: 'pre' }}
      >
        {code}
      </Box>
    </Paper>
  );
}
