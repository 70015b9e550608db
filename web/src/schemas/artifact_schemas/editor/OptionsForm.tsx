import { ActionIcon, Button, Group, Input, Stack, Textarea, TextInput } from '@mantine/core';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { randomKey } from '@/kit/api/idempotency';
import { type DraftOption, moveItem } from '../model';
import type { FieldFormProps } from './FieldForm';
import { parseOptions } from './options';

/** The options of a choice: one by one, or many at once as lines of text. */
export function OptionsForm({ field, change, errorOf, readOnly }: FieldFormProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { options } = field;
  const [pasting, setPasting] = useState(false);
  const set = (next: DraftOption[]) => change({ options: next });
  const edit = (index: number, changes: Partial<DraftOption>) =>
    set(options.map((option, at) => (at === index ? { ...option, ...changes } : option)));
  return (
    <Input.Wrapper label={t('options.title')} labelElement="div" error={errorOf('options')}>
      <Stack gap={6}>
        {options.map((option, index) => (
          <Group key={option.uid} gap={4} wrap="nowrap" align="flex-start">
            <OptionInputs {...{ option, index, edit, errorOf }} />
            {!readOnly && <OptionButtons {...{ options, index, set }} />}
          </Group>
        ))}
        {!readOnly && (
          <Group gap="xs">
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<Plus size={14} aria-hidden />}
              onClick={() => set([...options, { uid: randomKey(), value: '', label: '' }])}
            >
              {t('options.add')}
            </Button>
            <Button variant="subtle" size="compact-sm" onClick={() => setPasting(true)}>
              {t('options.paste')}
            </Button>
          </Group>
        )}
        {pasting && (
          <PasteForm
            take={(added) => {
              set([...options, ...added]);
              setPasting(false);
            }}
          />
        )}
      </Stack>
    </Input.Wrapper>
  );
}

interface InputsProps {
  option: DraftOption;
  index: number;
  edit: (index: number, changes: Partial<DraftOption>) => void;
  errorOf: FieldFormProps['errorOf'];
}

function OptionInputs({ option, index, edit, errorOf }: InputsProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <>
      <TextInput
        aria-label={t('options.value', { number: index + 1 })}
        placeholder={t('options.value_hint')}
        flex={1}
        dir="auto"
        value={option.value}
        onChange={(event) => edit(index, { value: event.currentTarget.value })}
        error={errorOf(`options.${index}.value`) ?? errorOf(`options.${index}`)}
      />
      <TextInput
        aria-label={t('options.label', { number: index + 1 })}
        placeholder={t('options.label_hint')}
        flex={1}
        dir="auto"
        value={option.label}
        onChange={(event) => edit(index, { label: event.currentTarget.value })}
        error={errorOf(`options.${index}.label`)}
      />
    </>
  );
}

function PasteForm({ take }: { take: (options: DraftOption[]) => void }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const [lines, setLines] = useState('');
  return (
    <Stack gap={6}>
      <Textarea
        label={t('options.lines')}
        description={t('options.lines_hint')}
        autosize
        minRows={4}
        maxRows={12}
        value={lines}
        onChange={(event) => setLines(event.currentTarget.value)}
      />
      <Button size="compact-sm" onClick={() => take(parseOptions(lines))}>
        {t('options.take')}
      </Button>
    </Stack>
  );
}

interface ButtonsProps {
  options: readonly DraftOption[];
  index: number;
  set: (options: DraftOption[]) => void;
}

function OptionButtons({ options, index, set }: ButtonsProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const name = options[index]?.value ?? '';
  const button = { variant: 'subtle', size: 34 } as const;
  return (
    <>
      <ActionIcon
        {...button}
        aria-label={t('fields.up', { name })}
        disabled={index === 0}
        onClick={() => set(moveItem(options, index, index - 1))}
      >
        <ArrowUp size={14} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...button}
        aria-label={t('fields.down', { name })}
        disabled={index === options.length - 1}
        onClick={() => set(moveItem(options, index, index + 1))}
      >
        <ArrowDown size={14} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...button}
        color="red"
        aria-label={t('fields.remove', { name })}
        onClick={() => set(options.filter((_, at) => at !== index))}
      >
        <Trash2 size={14} aria-hidden />
      </ActionIcon>
    </>
  );
}
