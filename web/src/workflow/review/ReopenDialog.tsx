import { Radio, Stack, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';

type TagSet = Schemas['TagSet'];

function useReopen(tagSet: TagSet, done: () => void) {
  const queryClient = useQueryClient();
  const reopen = $api.useMutation('post', '/api/v1/tag-sets/{tag_set_id}/reopen', {
    onSuccess: async () => {
      await queryClient.invalidateQueries();
      done();
    },
  });
  const run = (reason: string, to: 'review' | 'labeler') =>
    reopen.mutate({
      params: { path: { tag_set_id: tagSet.id } },
      body: { reason, to, revision: tagSet.revision },
    });
  return { run, error: reopen.error, isPending: reopen.isPending };
}

/** Takes a decision back, with a reason. */
export function ReopenDialog({ tagSet, close }: { tagSet: TagSet; close: () => void }) {
  const { t } = useTranslation('workflow/review');
  const [reason, setReason] = useState('');
  const [to, setTo] = useState<'review' | 'labeler'>('review');
  const reopen = useReopen(tagSet, close);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    reopen.run(reason.trim(), to);
  };
  return (
    <Dialog onClose={close} title={t('reopen.title')}>
      <form onSubmit={submit}>
        <Stack>
          <Unsaved isDirty={reason.trim() !== ''} />
          <Textarea
            label={t('reason')}
            required
            rows={3}
            dir="auto"
            data-autofocus
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <Radio.Group
            label={t('reopen.to')}
            value={to}
            onChange={(value) => setTo(value === 'labeler' ? 'labeler' : 'review')}
          >
            <Stack gap={6} mt={4}>
              <Radio value="review" label={t('reopen.review')} />
              {tagSet.labeler && (
                <Radio value="labeler" label={t('reject.labeler', { name: tagSet.labeler.name })} />
              )}
            </Stack>
          </Radio.Group>
          <ErrorAlert error={reopen.error} />
          <FormActions
            submit={t('reopen.button')}
            loading={reopen.isPending}
            disabled={!(reason.trim() !== '')}
            onCancel={close}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
