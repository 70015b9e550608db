import { Drawer, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { Markdown } from '@/kit/markdown/Markdown';
import type { Field } from '../model/tags';

interface Props {
  schema: Schemas['SchemaDetail'];
  fields: readonly Field[];
  opened: boolean;
  close: () => void;
}

/** What the schema says about labeling, as a whole and field by field. */
export function GuidelinesDrawer({ schema, fields, opened, close }: Props) {
  const { t } = useTranslation(['workflow/labeling', 'kit']);
  return (
    <Drawer
      opened={opened}
      onClose={close}
      position="right"
      title={t('guidelines.title')}
      closeButtonProps={{ 'aria-label': t('kit:close') }}
    >
      <Stack gap="md">
        {schema.guidelines && <Markdown text={schema.guidelines} />}
        <Title order={3} size="h6">
          {t('guidelines.fields')}
        </Title>
        <dl style={{ margin: 0 }}>
          {fields.map((field) => (
            <div key={field.key} style={{ marginBottom: 8 }}>
              <Text component="dt" size="sm" fw={600}>
                <bdi>{field.label}</bdi>
              </Text>
              <Text component="dd" size="sm" m={0} c={field.description ? undefined : 'dimmed'}>
                <bdi>{field.description || '–'}</bdi>
              </Text>
            </div>
          ))}
        </dl>
      </Stack>
    </Drawer>
  );
}
