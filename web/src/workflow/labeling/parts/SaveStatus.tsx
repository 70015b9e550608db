import { Button, Group, Text } from '@mantine/core';
import { CircleAlert, CloudCheck, CloudOff, CloudUpload, type LucideIcon } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import type { Saver, SaveState } from '../model/saver';

const ICONS: Record<SaveState['kind'], LucideIcon> = {
  saved: CloudCheck,
  changed: CloudUpload,
  saving: CloudUpload,
  offline: CloudOff,
  invalid: CircleAlert,
  conflict: CircleAlert,
  refused: CircleAlert,
};
const COLORS: Partial<Record<SaveState['kind'], string>> = {
  offline: 'light-dark(var(--mantine-color-orange-9), var(--mantine-color-orange-3))',
  invalid: 'var(--mantine-color-error)',
  conflict: 'var(--mantine-color-error)',
  refused: 'var(--mantine-color-error)',
};

export function useSaveState(saver: Saver): SaveState {
  return useSyncExternalStore(saver.subscribe, () => saver.state);
}

/** Whether the changes are saved, and if not, why. */
export function SaveStatus({ saver }: { saver: Saver }) {
  const { t } = useTranslation('workflow/labeling');
  const { kind } = useSaveState(saver);
  const Icon = ICONS[kind];
  return (
    <Group gap={6} wrap="nowrap" role="status" data-save-state={kind}>
      <Text c={COLORS[kind] ?? 'dimmed'} lh={0} component="span">
        <Icon size={16} aria-hidden />
      </Text>
      <Text size="xs" c={COLORS[kind] ?? 'dimmed'}>
        {t(`save.${kind}`)}
      </Text>
      {kind === 'offline' && (
        <Button size="compact-xs" variant="default" onClick={saver.retry}>
          {t('save.retry')}
        </Button>
      )}
    </Group>
  );
}
