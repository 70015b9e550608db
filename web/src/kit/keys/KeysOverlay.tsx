import { Group, Kbd, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/kit/components/Dialog';
import { isMac, useKeyGroups, useKeys, type KeyAction, type KeyGroup } from './keys';
import { splitKeys } from './matching';

const NAMES: Record<string, string> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: '⇧',
  alt: isMac ? '⌥' : 'Alt',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': '␣',
};

/** Shows a combination of keys as on the keyboard. */
export function Keys({ keys }: { keys: string }) {
  return (
    <Group gap={4} wrap="nowrap" component="span">
      {splitKeys(keys).map((part) => (
        <Kbd key={part} size="xs">
          {NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part)}
        </Kbd>
      ))}
    </Group>
  );
}

/** Several components may add keys under the same title. */
function mergeGroups(groups: readonly KeyGroup[]): KeyGroup[] {
  const titles = [...new Set(groups.map(({ title }) => title))];
  return titles.map((title) => ({
    title,
    actions: groups.filter((group) => group.title === title).flatMap(({ actions }) => actions),
  }));
}

function Row({ action }: { action: KeyAction }) {
  const combinations = typeof action.keys === 'string' ? [action.keys] : action.keys;
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{action.text}</Text>
      <Group gap="xs" wrap="nowrap">
        {combinations.map((combination) => (
          <Keys key={combination} keys={combination} />
        ))}
      </Group>
    </Group>
  );
}

/** The list of the keys of this page; `?` opens it. */
export function KeysOverlay() {
  const { t } = useTranslation();
  const [opened, { open, close }] = useDisclosure(false);
  const groups = useKeyGroups();
  useKeys(t('keys.general'), [{ keys: '?', text: t('keys.show'), run: open }]);
  return (
    <Dialog opened={opened} onClose={close} title={t('keys.title')}>
      <Stack gap="lg">
        {mergeGroups(groups)
          .filter(({ actions }) => actions.length > 0)
          .map((group) => (
            <Stack key={group.title} gap={6}>
              <Title order={3} size="h6">
                {group.title}
              </Title>
              {group.actions
                .filter((action) => !action.disabled)
                .map((action) => (
                  <Row key={action.text} action={action} />
                ))}
            </Stack>
          ))}
      </Stack>
    </Dialog>
  );
}
