import { Button, CloseButton, Group, Input, Select, Stack, TextInput } from '@mantine/core';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pair } from './metadata';

interface Props {
  value: Pair[];
  onChange: (pairs: Pair[]) => void;
  error?: ReactNode;
}

const TYPES = ['string', 'number', 'boolean'] as const;

export function MetadataInput({ value, onChange, error }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const change = (index: number, changes: Partial<Pair>) =>
    onChange(value.map((pair, at) => (at === index ? { ...pair, ...changes } : pair)));
  return (
    <Input.Wrapper label={t('facts.metadata')} error={error} labelElement="div">
      <Stack gap={6}>
        {value.map((pair, index) => (
          <Group key={index} gap={6} wrap="nowrap">
            <TextInput
              aria-label={t('metadata.key')}
              placeholder={t('metadata.key')}
              maxLength={100}
              flex={1}
              value={pair.key}
              onChange={(event) => change(index, { key: event.currentTarget.value })}
            />
            <TextInput
              aria-label={t('metadata.value')}
              placeholder={t('metadata.value')}
              dir="auto"
              flex={2}
              value={pair.value}
              onChange={(event) => change(index, { value: event.currentTarget.value })}
            />
            <Select
              aria-label={t('metadata.type')}
              w={110}
              allowDeselect={false}
              data={TYPES.map((type) => ({
                value: type,
                label: t(`metadata.types.${type}`),
              }))}
              value={pair.type}
              onChange={(type) => change(index, { type: type as Pair['type'] })}
            />
            <CloseButton
              aria-label={t('metadata.remove', { key: pair.key })}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            />
          </Group>
        ))}
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => onChange([...value, { key: '', value: '', type: 'string' }])}
          >
            {t('metadata.add')}
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
}
