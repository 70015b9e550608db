import { Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import { type ChosenFile, readList } from './files';
import { UploadArea } from './UploadArea';
import { UploadList } from './UploadList';
import { addUploads } from './uploads';
import styles from './upload.module.css';

export function UploadDialog({ opened, close }: { opened: boolean; close: () => void }) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <Dialog opened={opened} onClose={close} title={t('upload.title')} size="lg">
      <Form />
    </Dialog>
  );
}

function Form() {
  const { t } = useTranslation('documents/artifacts');
  const [schemaId, setSchemaId] = useState<string>();
  const add = (files: readonly ChosenFile[]) => addUploads(files, schemaId);
  return (
    <Stack>
      <SchemaSelect
        label={t('upload.schema')}
        description={t('upload.schema_hint')}
        only="active"
        value={schemaId}
        onChange={setSchemaId}
      />
      <UploadArea disabled={false} open={() => undefined} schemaId={schemaId}>
        <div className={styles.zone}>
          <Text size="sm">{t('upload.drop')}</Text>
          <Group gap="xs" justify="center">
            <FileButton multiple onChange={(files) => add(readList(files))}>
              {(props) => <Button {...props}>{t('upload.choose_files')}</Button>}
            </FileButton>
            <FolderButton onChange={add} />
          </Group>
          <Text size="xs" c="dimmed">
            {t('upload.types')}
          </Text>
        </div>
      </UploadArea>
      <UploadList />
    </Stack>
  );
}

function FolderButton({ onChange }: { onChange: (files: readonly ChosenFile[]) => void }) {
  const { t } = useTranslation('documents/artifacts');
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={(element) => {
          input.current = element;
          if (element) element.webkitdirectory = true;
        }}
        type="file"
        multiple
        hidden
        aria-label={t('upload.choose_folder')}
        onChange={(event) => {
          onChange(readList(event.currentTarget.files));
          event.currentTarget.value = '';
        }}
      />
      <Button variant="default" onClick={() => input.current?.click()}>
        {t('upload.choose_folder')}
      </Button>
    </>
  );
}
