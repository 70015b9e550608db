import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useIdempotency } from '@/kit/api/idempotency';
import { notifyDone, notifyError } from '@/kit/components/notify';
import { holdChanges } from '@/kit/forms/unsaved';
import { guessTargets, isUnchanged, mappedHeader, type Target } from './csv';
import { type FilePreview, previewFile, replaceHeader } from './preview';
import { uploadRecords } from './upload';

export const FORMATS = ['auto', 'jsonl', 'csv', 'doccano', 'label_studio', 'zip'] as const;
export const LABELS = ['submitted', 'accepted', 'ignored'] as const;

export interface Settings {
  schemaId: string | null;
  format: (typeof FORMATS)[number];
  labels: (typeof LABELS)[number];
}

interface Chosen {
  file: File;
  preview: FilePreview;
  targets: Target[];
}

/** Returns the file to send: with another header if columns were given other meanings. */
async function prepareFile({ file, preview: { csv }, targets }: Chosen): Promise<File> {
  if (!csv || isUnchanged(csv, targets)) return file;
  return replaceHeader(file, csv, mappedHeader(csv, targets));
}

async function buildForm(chosen: Chosen, settings: Settings): Promise<FormData> {
  const form = new FormData();
  if (settings.schemaId !== null) form.set('schema_id', settings.schemaId);
  if (settings.format !== 'auto') form.set('format', settings.format);
  form.set('labels', settings.labels);
  form.set('file', await prepareFile(chosen));
  return form;
}

/** Returns whether the page is still shown, for what ends later. */
function useIsShown() {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

/** The file that was chosen last, with what is in it. */
function useChosen(setError: (error: unknown) => void) {
  const [chosen, setChosen] = useState<Chosen>();
  const latest = useRef<File>(undefined);
  const choose = async (file: File) => {
    latest.current = file;
    setError(undefined);
    try {
      const preview = await previewFile(file);
      // A larger file that was chosen before may be read later.
      if (latest.current !== file) return;
      setChosen({ file, preview, targets: guessTargets(preview.csv?.columns ?? []) });
    } catch (failure) {
      // Such as a folder, or a file that was deleted meanwhile.
      if (latest.current === file) setError(failure);
    }
  };
  return { chosen, setChosen, choose };
}

/** The state of an import: the file, what its columns are, the settings, and the upload. */
export function useImport() {
  const { t } = useTranslation('intake/bulk_import');
  const navigate = useNavigate();
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const { chosen, setChosen, choose } = useChosen(setError);
  const [settings, setSettings] = useState<Settings>({
    schemaId: null,
    format: 'auto',
    labels: 'submitted',
  });
  const [share, setShare] = useState<number>();
  const idempotency = useIdempotency();
  const isShown = useIsShown();
  const running = useRef<AbortController>(undefined);
  const start = async () => {
    if (!chosen) return;
    const controller = new AbortController();
    running.current = controller;
    // Closing the tab would end the upload; another page does not.
    const release = holdChanges(true);
    setError(undefined);
    setShare(0);
    try {
      const form = await buildForm(chosen, settings);
      const { name, size, lastModified } = chosen.file;
      const content = [name, size, lastModified, chosen.targets, settings];
      const { 'Idempotency-Key': key } = idempotency.headers(content);
      const job = await uploadRecords(form, key, setShare, controller.signal);
      idempotency.done();
      void client.invalidateQueries({ queryKey: ['get', '/api/v1/ingestion-jobs'] });
      // Who has gone to another page meanwhile stays there.
      if (isShown.current) void navigate({ to: '/imports/$jobId', params: { jobId: job.id } });
      else notifyDone(t('upload.done', { name: chosen.file.name }));
    } catch (failure) {
      if (controller.signal.aborted) return;
      if (isShown.current) setError(failure);
      else notifyError(failure);
    } finally {
      release();
      setShare(undefined);
    }
  };
  const { csv } = chosen?.preview ?? {};
  return {
    ...{ file: chosen?.file, preview: chosen?.preview, targets: chosen?.targets ?? [] },
    ...{ settings, share, error },
    choose: (file: File) => void choose(file),
    setTarget: (index: number, target: Target) =>
      setChosen((now) => now && { ...now, targets: moveTarget(now.targets, index, target) }),
    setSettings: (changes: Partial<Settings>) => setSettings((now) => ({ ...now, ...changes })),
    lacksText: csv !== undefined && chosen?.targets.includes('text') === false,
    start: () => void start(),
    abort: () => running.current?.abort(),
  };
}

/** Gives a column a meaning, which another column then loses. */
function moveTarget(targets: readonly Target[], index: number, target: Target): Target[] {
  return targets.map((one, other) => {
    if (other === index) return target;
    return one === target && target !== 'metadata' ? 'metadata' : one;
  });
}
