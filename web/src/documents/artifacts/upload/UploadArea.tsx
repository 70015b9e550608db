import { Center, Text } from '@mantine/core';
import { Upload } from 'lucide-react';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readDrop } from './files';
import { addUploads } from './uploads';
import styles from './upload.module.css';

interface Props {
  disabled: boolean;
  /** Opens the dialog that shows the progress. */
  open: () => void;
  schemaId?: string | undefined;
  children: ReactNode;
}

/** Takes files and folders that are dropped anywhere on its children. */
export function UploadArea({ disabled, open, schemaId, children }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  if (disabled) return children;
  const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes('Files');
  const enter = (step: number) => (event: DragEvent) => {
    if (!hasFiles(event)) return;
    depth.current += step;
    setOver(depth.current > 0);
  };
  const drop = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    open();
    void readDrop(event.dataTransfer).then((files) => addUploads(files, schemaId));
  };
  return (
    // What is dropped here can be chosen with a button, too.
    <div
      className={styles.area}
      onDragEnter={enter(1)}
      onDragLeave={enter(-1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {over && (
        <Center className={styles.over}>
          <Upload size={24} aria-hidden />
          <Text fw={600}>{t('upload.drop')}</Text>
        </Center>
      )}
    </div>
  );
}
