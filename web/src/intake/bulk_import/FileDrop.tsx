import '@mantine/dropzone/styles.layer.css';
import { Group, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { FileText, Upload } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';

interface Props {
  file: File | undefined;
  onFile: (file: File) => void;
}

/** Takes a file that is dropped or chosen. */
export function FileDrop({ file, onFile }: Props) {
  const { t } = useTranslation('intake/bulk_import');
  const format = useFormat();
  return (
    <Dropzone
      multiple={false}
      onDrop={([first]) => first && onFile(first)}
      inputProps={{ 'aria-label': t('choose') }}
      p="lg"
    >
      <Group justify="center" gap="md" wrap="nowrap" style={{ pointerEvents: 'none' }}>
        {file ? <FileText size={28} aria-hidden /> : <Upload size={28} aria-hidden />}
        <Stack gap={2}>
          <Text size="sm" fw={500} dir="auto" style={{ overflowWrap: 'anywhere' }}>
            {file ? file.name : t('drop')}
          </Text>
          <Text size="xs" c="dimmed">
            {file ? `${format.bytes(file.size)} · ${t('drop_other')}` : t('formats_hint')}
          </Text>
        </Stack>
      </Group>
    </Dropzone>
  );
}
